//! Every sentence of the pages, in English and Arabic side by side.
//!
//! A key that lacks a language does not compile; a test checks that both languages have the
//! same `{placeholders}`. Formulas in `[[…]]` are left to right in every language. A counted
//! noun is filled in by [`counted`](super::plural::counted). `docs/glossary-ar.md` lists the
//! Arabic terms.

use super::Language;

/// Makes the type with a field per key, and both languages.
macro_rules! catalogue {
    ($($key:ident: $english:literal, $arabic:literal;)*) => {
        /// The sentences of one language.
        #[derive(Debug)]
        pub struct Strings {
            /// Which language.
            pub language: Language,
            $(
                #[doc = $english]
                pub $key: &'static str,
            )*
        }

        /// In English.
        pub(super) static ENGLISH: Strings = Strings { language: Language::English, $($key: $english,)* };

        /// In Arabic.
        pub(super) static ARABIC: Strings = Strings { language: Language::Arabic, $($key: $arabic,)* };

        /// All of them: the key, English, Arabic.
        #[cfg(test)]
        const ALL: &[(&str, &str, &str)] = &[$((stringify!($key), $english, $arabic),)*];
    };
}

catalogue! {
    // The frame of every page.
    name: "Mizan", "ميزان";
    skip: "Skip to the content", "انتقل إلى المحتوى";
    pages: "Pages", "الصفحات";
    nav_budgets: "Budgets", "الميزانيات";
    nav_ask: "Query", "اسأل";
    nav_laboratory: "Laboratory", "المختبر";
    nav_receipts: "Receipts", "الإيصالات";
    nav_audit: "Audit", "التدقيق";
    other_language: "العربية", "English";
    theme_to_dark: "Dark", "داكن";
    theme_to_light: "Light", "فاتح";
    theme: "Theme", "المظهر";
    sign_out: "Sign out", "تسجيل الخروج";
    role_owner: "owner", "مالك";
    role_analyst: "analyst", "محلل";
    role_auditor: "auditor", "مدقق";
    role_runner: "runner", "برنامج خارجي";
    footer: "Differentially private SQL with an enforced privacy budget. Costs are rounded up; the remaining budget is rounded down.", "إجابات عن أسئلة SQL بخصوصية تفاضلية، وميزانية خصوصية لا يمكن تجاوزها. تُقرَّب الكلفة إلى الأعلى، ويُقرَّب الرصيد المتبقي إلى الأدنى.";
    reference: "API reference", "مرجع الواجهة البرمجية";
    copy: "Copy", "انسخ";
    copied: "Copied", "نُسخ";
    details: "Details", "التفاصيل";

    // Signing in.
    sign_in: "Sign in", "تسجيل الدخول";
    sign_in_lead: "Paste the access token that the data owner gave you.", "ألصق رمز الدخول الذي أعطاك إياه مالك البيانات.";
    sign_in_token: "Access token", "رمز الدخول";
    sign_in_hint: "It begins with mizan_ and is created with", "يبدأ بـ mizan_ ويُنشأ بالأمر";
    sign_in_failed: "This token is unknown, expired or revoked.", "هذا الرمز غير معروف، أو انتهت صلاحيته، أو أُلغي.";
    sign_in_kept: "The server does not store the token. This browser gets a session of 12 hours.", "لا يحفظ الخادم الرمز نفسه، بل يفتح لهذا المتصفح جلسة مدتها 12 ساعة.";

    // Budgets.
    budgets_lead: "The remaining privacy budget of each account. Every query is charged before it reads data.", "رصيد ميزانية الخصوصية المتبقي في كل حساب. تُخصم كلفة كل سؤال قبل قراءة البيانات.";
    budgets_none: "There is no budget yet", "لا توجد ميزانية بعد";
    budgets_none_help: "The data owner creates a budget together with its dataset:", "ينشئ مالك البيانات الميزانية مع مجموعة بياناتها:";
    budgets_none_analyst: "This token has no dataset. Ask the data owner for access.", "ليست لهذا الرمز أي مجموعة بيانات. اطلب الإذن من مالك البيانات.";
    budgets_share: "[[{share} %]] left", "المتبقي [[{share} %]]";
    budgets_left_of: "[[ε {left}]] left of [[ε {whole}]]", "بقي [[ε {left}]] من [[ε {whole}]]";
    budgets_at_delta: "at [[δ {delta}]]", "عند [[δ {delta}]]";
    budgets_exhausted: "Budget exhausted", "نفدت الميزانية";
    budgets_about: "Enough for about {queries} like the last one", "يكفي لنحو {queries} مثل السؤال الأخير";
    budgets_at_least: "Enough for at least {queries} like the last one", "يكفي لما لا يقل عن {queries} مثل السؤال الأخير";
    budgets_about_none: "Not enough for another query like the last one", "لا يكفي لسؤال آخر مثل السؤال الأخير";
    budgets_untouched: "Nothing was charged yet", "لم يُخصم شيء بعد";
    budgets_below: "part of {parent}", "جزء من {parent}";
    budgets_pays: "pays for {datasets}", "تُخصم منه كلفة {datasets}";
    budgets_live: "live", "تحديث مباشر";
    budgets_not_live: "not live: reload the page to see changes", "توقف التحديث المباشر: أعد تحميل الصفحة لرؤية التغييرات";
    budgets_burn_down: "Remaining budget over time", "تطوّر الرصيد المتبقي";
    budgets_no_burn_down: "The log is too long for a chart here. Use the command line:", "السجل أطول من أن يُرسم هنا. استعمل سطر الأوامر:";
    budgets_ask: "Query", "اسأل";
    budgets_all: "All budgets", "كل الميزانيات";
    budget_promise: "Total budget", "إجمالي الميزانية";
    budget_spent: "Spent (estimate)", "المنفَق (تقدير)";
    budget_spent_note: "if the queries were fixed in advance", "لو حُدِّدت الأسئلة كلها مسبقًا";
    budget_guarantee: "Spent at most (guaranteed)", "المنفَق على الأكثر (بضمان)";
    budget_guarantee_note: "by an odometer, at any time, however queries are chosen", "بعدّاد الإنفاق، في أي وقت، كيفما اختيرت الأسئلة";
    budget_guarantee_whole: "for the whole account; the odometer reads [[{reading}]]", "للحساب كله؛ وقراءة عدّاد الإنفاق [[{reading}]]";
    budget_last: "Last charge", "آخر عملية خصم";
    budget_more: "Charges like it that still fit, about", "عدد العمليات المماثلة الممكنة، تقريبًا";
    budget_unanswered: "Queries that failed or run now", "أسئلة فشلت أو تُحسب الآن";
    budget_unanswered_note: "Each was charged. A retry with the same key is not charged again; one that failed counts although its retry was answered.", "خُصمت كلفة كل منها. وإذا أُعيد السؤال بالمفتاح نفسه فلا تُخصم كلفته مرة أخرى؛ وما فشل منها يبقى محسوبًا وإن أُجيب عند إعادته.";
    budget_unanswered_limit: "With {limit} that failed, queries are refused until the data owner settles them:", "ومتى بلغ عدد ما فشل منها {limit} رُفضت الأسئلة حتى يسوّيها مالك البيانات:";
    budget_raised: "This budget was raised. The guarantee composes the budgets before and after.", "رُفعت هذه الميزانية. والضمان الكلي تركيب للميزانيتين، قبل الرفع وبعده.";
    budget_own_delta: "Reserved δ used", "المستعمل من δ المحجوزة";
    budget_own_delta_note: "thresholds and other mechanisms that may fail", "للعتبات وغيرها من الآليات التي قد تفشل";
    budget_own_delta_of: "{taken} of {limit}", "{taken} من {limit}";
    budget_orders: "Budget at each Rényi order", "الميزانية عند كل رتبة من رتب ريني";
    budget_orders_note: "A charge is admitted if it fits at one Rényi order or more.", "تُقبل عملية الخصم إذا كفى لها الرصيد عند رتبة واحدة على الأقل من رتب ريني.";
    budget_orders_clock_note: "A charge is admitted if it fits the Gaussian clock, or one Rényi order or more.", "تُقبل عملية الخصم إذا كفى لها الرصيد على ساعة غاوس، أو عند رتبة واحدة على الأقل من رتب ريني.";
    budget_clock: "Gaussian clock (variance)", "ساعة غاوس (التباين)";
    budget_order: "order α", "الرتبة α";
    budget_limit: "limit", "الحد";
    budget_taken: "spent", "المنفَق";
    budget_pending: "reserved", "المحجوز";
    budget_room: "left", "المتبقي";
    budget_decides: "decides", "الحاكمة";
    budget_gap: "An older copy of the ledger was restored at entry {position}. The log had {entries} before.", "استُعيدت نسخة أقدم من الدفتر عند القيد {position}. وكان في السجل قبلها {entries}.";

    // Queries.
    ask_lead: "Write a SQL query. The quote shows its cost and its margin of error. Nothing is charged until you press the button.", "اكتب سؤالًا بلغة SQL. يبيّن التسعير كلفته وهامش خطئه. لا يُخصم شيء حتى تضغط الزر.";
    ask_sql: "SQL query", "السؤال بلغة SQL";
    ask_sql_hint: "SELECT with COUNT, SUM, AVG, MEDIAN and others. Ctrl+Enter runs the query.", "عبارة SELECT مع COUNT أو SUM أو AVG أو MEDIAN أو غيرها. اضغط Ctrl+Enter لطرح السؤال.";
    ask_how_much: "How much to spend", "مقدار الإنفاق";
    ask_default: "Default: [[10 %]] of the total budget", "الافتراضي: [[10 %]] من إجمالي الميزانية";
    ask_by_epsilon: "At most ε", "بحدّ أقصى ε";
    ask_by_accuracy: "Target margin of error: ±", "هامش الخطأ المطلوب: ±";
    ask_epsilon: "ε to spend", "ε المنفَقة";
    ask_accuracy: "Margin of error", "هامش الخطأ";
    ask_accuracy_unit: "([[95 %]], first aggregate)", "(بثقة [[95 %]]، لأول تجميع)";
    ask_less: "more noise", "ضوضاء أكثر";
    ask_more: "less noise", "ضوضاء أقل";
    ask_quote: "Quote", "التسعير";
    ask_quote_button: "Show the quote", "اعرض التسعير";
    ask_button: "Run and charge", "اسأل واخصم الكلفة";
    ask_asking: "Running…", "جارٍ الحساب…";
    ask_pricing: "Quoting…", "جارٍ التسعير…";
    ask_quote_empty: "The quote appears here as you type. It reads no private data.", "يظهر التسعير هنا أثناء الكتابة. ولا يقرأ أي بيانات خاصة.";
    ask_once: "A double click, or a retry after a lost connection, is charged once. After an answer, running the query again is a new charge with fresh noise.", "لا تُخصم كلفة السؤال الواحد إلا مرة واحدة، ولو ضغطت مرتين أو أعدت المحاولة بعد انقطاع الاتصال. أما طرحه من جديد بعد ظهور الإجابة فعملية خصم جديدة بضوضاء جديدة.";
    ask_again: "Opening this page ran nothing. If you ran this query before your session ended, press the button again: it kept its key, so it is charged at most once.", "لم يُطرح أي سؤال بفتح هذه الصفحة. إن كنت قد طرحت هذا السؤال قبل انتهاء جلستك فاضغط الزر من جديد: ما زال مفتاحه محفوظًا، فلا تُخصم كلفته إلا مرة واحدة.";
    ask_datasets: "Datasets", "مجموعات البيانات";
    ask_no_datasets: "There is no dataset to query", "لا توجد مجموعة بيانات تسأل عنها";
    ask_unit: "privacy unit: {unit}", "وحدة الخصوصية: {unit}";
    ask_public: "public data, no privacy cost", "بيانات عامة بلا كلفة خصوصية";
    ask_rows_per_unit: "at most {rows} per person and group", "{rows} على الأكثر لكل شخص في كل فئة";
    ask_groups_per_unit: "at most {groups} per person", "{groups} على الأكثر لكل شخص";
    ask_column: "column", "العمود";
    ask_type: "type", "النوع";
    ask_bounds: "allowed range", "المدى المسموح";
    ask_keys: "declared groups", "الفئات المعلنة";
    ask_try: "Examples", "أمثلة";
    type_boolean: "boolean", "منطقي";
    type_integer: "integer", "عدد صحيح";
    type_number: "number", "عدد";
    type_text: "text", "نص";
    type_date: "date", "تاريخ";
    type_timestamp: "timestamp", "تاريخ ووقت";

    // A quote.
    quote_cost: "Cost", "الكلفة";
    quote_error: "Margin of error ([[95 %]])", "هامش الخطأ (بثقة [[95 %]])";
    quote_error_unknown: "depends on the data", "يعتمد على البيانات";
    quote_left_now: "Left now", "الرصيد الآن";
    quote_left_after: "Left after", "الرصيد بعد السؤال";
    quote_more: "Queries like this that fit", "عدد الأسئلة المماثلة الممكنة";
    quote_groups: "Groups", "الفئات";
    quote_fits_not: "The remaining budget does not cover this query.", "الرصيد المتبقي لا يكفي لهذا السؤال.";
    quote_reserved: "Reserved δ for the threshold", "δ المحجوزة للعتبة";
    quote_reserved_of: "{asked}; {left} of {reserved} is left", "{asked}؛ والمتبقي {left} من {reserved}";
    quote_reserved_short: "The reserved δ does not suffice for the threshold, and a smaller ε does not help. Group by a column with declared groups, or ask the data owner for a larger δ.", "مقدار δ المحجوز للعتبة غير كافٍ، ولا يفيد إنفاق ε أقل. اجعل الفئات بحسب عمود فئاته معلنة، أو اطلب من مالك البيانات δ أكبر.";
    quote_fits_not_help: "Use a smaller ε or fewer columns, or ask the data owner for a larger budget.", "أنفق ε أقل، أو اطلب أعمدة أقل، أو اطلب من مالك البيانات ميزانية أكبر.";
    quote_event: "Privacy event and noise", "حدث الخصوصية والضوضاء";
    quote_why: "How the noise was chosen", "كيف اختيرت الضوضاء";
    quote_clamping: "Contribution bounds (their effect is not included in the ±)", "حدود المساهمة (لا يدخل أثرها في ±)";
    quote_notes: "Notes", "ملاحظات";
    quote_cannot: "No quote.", "تعذّر التسعير.";

    // An answer.
    answer: "Answer", "الإجابة";
    answer_spent: "Spent", "المنفَق";
    answer_left: "left", "المتبقي";
    answer_interval: "[[{confidence} %]] confidence intervals (privacy noise only).", "فترات ثقة بنسبة [[{confidence} %]] (للضوضاء وحدها).";
    answer_receipt: "Receipt", "الإيصال";
    answer_repeated: "This query was answered before. This is the same answer; nothing was charged now.", "أُجيب عن هذا السؤال من قبل. هذه هي الإجابة نفسها، ولم يُخصم شيء الآن.";
    answer_none: "The answer has no rows", "ليس في الإجابة صفوف";
    answer_too_few: "too few rows", "عدد الصفوف غير كافٍ";
    answer_chart: "Chart with confidence intervals", "رسم بفترات الثقة";
    refused: "Refused: the budget is too small", "رُفض السؤال: الميزانية لا تكفي";
    refused_lead: "Nothing was charged and no data were read.", "لم يُخصم شيء ولم تُقرأ أي بيانات.";
    refused_asked: "Cost", "الكلفة";
    refused_fits: "Largest share of this cost that fits", "أكبر نسبة من هذه الكلفة يكفي لها الرصيد";
    refused_clock: "needs {needed}; {left} of {limit} is left", "المطلوب {needed}؛ والمتبقي {left} من {limit}";
    failed: "The query failed", "تعذّرت الإجابة عن السؤال";
    failed_charged: "The query was charged before it failed. Press the button again without changing the query: the charge is not repeated.", "خُصمت كلفة السؤال قبل أن يفشل. اضغط الزر من جديد من دون تغيير السؤال: لن تُخصم الكلفة مرة أخرى.";
    failed_clock_keeps: "The charge was voided because the query did not run. But the Gaussian clock of the account keeps its variance: other charges count on it.", "أُلغي الخصم لأن السؤال لم يُنفَّذ. لكن ساعة غاوس في الحساب تحتفظ بتباينه، لأن عمليات خصم أخرى تعتمد عليه.";
    failed_code: "Error code", "رمز الخطأ";
    failed_next: "What to do", "الخطوة التالية";

    // Receipts.
    receipts_lead: "A receipt proves that a charge is in the log and that the log was not rewritten since.", "يثبت الإيصال أن عملية الخصم مقيَّدة في السجل، وأن السجل لم تُعَد كتابته منذ ذلك الحين.";
    receipts_field: "Receipt or id", "الإيصال أو المعرّف";
    receipts_open: "Open", "افتح";
    receipts_none: "There is no such receipt, or this token may not see it.", "لا يوجد إيصال كهذا، أو لا يحق لهذا الرمز أن يراه.";
    receipt_who: "Requested by", "صاحب الطلب";
    receipt_when: "Time", "الوقت";
    receipt_question: "Query", "السؤال";
    receipt_released: "Privacy event", "حدث الخصوصية";
    receipt_account: "Account", "الحساب";
    receipt_kind: "Entry", "القيد";
    receipt_position: "position", "الموضع";
    receipt_cost: "Cost at each Rényi order", "الكلفة عند كل رتبة من رتب ريني";
    receipt_own_delta: "Reserved δ", "δ المحجوزة";
    receipt_clock: "Gaussian clock", "ساعة غاوس";
    receipt_clock_taken: "variance {variance} taken", "اقتُطع تباين قدره {variance}";
    receipt_clock_price: "price: variance {variance}", "السعر: تباين قدره {variance}";
    receipt_derivation: "How the cost is computed", "كيف تُحسب الكلفة";
    receipt_best: "[[ε ≤ {epsilon}]] at [[δ {delta}]] by the method {method}", "[[ε ≤ {epsilon}]] عند [[δ {delta}]] بطريقة {method}";
    receipt_part: "part", "الجزء";
    receipt_at_one: "ε(1)", "ε(1)";
    receipt_at_best: "ε(α)", "ε(α)";
    receipt_at_inf: "ε(∞)", "ε(∞)";
    receipt_by_unknown: "not requested through this server", "لم يُطلب عبر هذا الخادم";
    receipt_proof: "Merkle proof", "برهان ميركل";
    receipt_proof_lead: "Entry {position} of {size}. Hashing the leaf with these siblings gives the root.", "القيد {position} من {size}. بتطبيق دالة التجزئة على الورقة وهذه العُقد الشقيقة ينتج الجذر.";
    receipt_leaf: "Leaf", "الورقة";
    receipt_siblings: "Siblings, from the leaf up", "العُقد الشقيقة، من الورقة صعودًا";
    receipt_root: "Root of the log", "جذر السجل";
    receipt_root_then: "Root in the receipt", "الجذر في الإيصال";
    receipt_alone: "The log has one entry: the leaf is the root.", "في السجل قيد واحد: الورقة هي الجذر.";
    receipt_verify: "Verify in this page", "تحقّق في هذه الصفحة";
    receipt_verify_lead: "Your browser computes the root itself with SHA-256 (RFC 6962). To compare it with a root that you trust, paste one from a checkpoint that you kept.", "يحسب متصفحك الجذر بنفسه بدالة التجزئة SHA-256 وفق RFC 6962. وللمقارنة بجذر تثق به، ألصق جذرًا من نقطة تحقق احتفظت بها.";
    receipt_trusted: "A root that you trust (optional)", "جذر تثق به (اختياري)";
    receipt_verify_script: "Verification in the page needs JavaScript. The command line verifies too:", "يحتاج التحقق في الصفحة إلى JavaScript. ويتحقق سطر الأوامر أيضًا:";
    receipt_computed: "Computed", "الجذر المحسوب";
    receipt_good: "Verified: the entry is in the log. The computed root is the root of the log.", "ثبت أن القيد في السجل: الجذر المحسوب هنا هو جذر السجل.";
    receipt_bad: "The proof does not lead to this root. Keep the receipt and tell an auditor.", "لا يوصل البرهان إلى هذا الجذر. احتفظ بالإيصال وأبلغ المدقق.";
    receipt_extends_good: "Verified: the log extends the log of the receipt.", "ثبت أن السجل امتداد للسجل عند إصدار الإيصال.";
    receipt_extends_bad: "The log does not extend the log of the receipt.", "ليس السجل امتدادًا للسجل عند إصدار الإيصال.";
    receipt_trusted_good: "Verified: it is the root that you pasted.", "ثبت أنه الجذر الذي ألصقته.";
    receipt_trusted_bad: "It is not the root that you pasted. A log that has grown has another root: compare checkpoints of the same size.", "ليس هذا الجذر الذي ألصقته. يتغيّر الجذر كلما طال السجل: قارن نقطتي تحقق لهما العدد نفسه من القيود.";
    receipt_trusted_form: "A root has 64 hexadecimal digits.", "يتكوّن الجذر من 64 خانة ست عشرية.";
    receipt_text: "The receipt, to keep", "الإيصال، لتحتفظ به";

    // The laboratory.
    lab_lead: "Type a privacy event to see its guarantees. Nothing here reads data or charges a budget.", "اكتب حدث خصوصية لترى ضماناته. لا شيء هنا يقرأ بيانات أو يخصم من ميزانية.";
    lab_event: "Privacy event", "حدث الخصوصية";
    lab_examples: "Examples", "أمثلة";
    lab_example_training: "private training (DP-SGD)", "تدريب نموذج بخصوصية تفاضلية (DP-SGD)";
    lab_example_paper: "the paper's rounds", "جولات الورقة البحثية";
    lab_example_survey: "a survey with randomized response", "استبيان بالاستجابة العشوائية";
    lab_example_counts: "a table of counts", "جدول أعداد";
    lab_example_gaussian: "Gaussian noise once", "ضوضاء غاوس مرة واحدة";
    lab_delta: "δ", "δ";
    lab_baseline: "Baseline probability (without your data)", "الاحتمال الأساسي (من دون بياناتك)";
    lab_parameters: "Parameters of the event", "معاملات الحدث";
    lab_compute: "Compute", "احسب";
    lab_bound: "ε at this δ", "ε عند δ هذه";
    lab_exact_between: "the exact value is between {lower} and {upper}", "القيمة الدقيقة بين {lower} و{upper}";
    lab_by_method: "by the method {method}", "بطريقة {method}";
    lab_methods: "All methods", "كل الطرائق";
    lab_method: "method", "الطريقة";
    lab_upper: "upper bound of ε", "الحد الأعلى لـ ε";
    lab_lower: "lower bound of ε", "الحد الأدنى لـ ε";
    lab_order: "order α", "الرتبة α";
    lab_refused: "Methods that do not apply", "طرائق لا تنطبق";
    lab_curve: "Rényi curve", "منحنى ريني";
    lab_no_curve: "This event has no Rényi curve.", "ليس لهذا الحدث منحنى ريني.";
    lab_profile: "Privacy profile and trade-off function", "ملف الخصوصية ودالة المقايضة";
    lab_profile_note: "δ at each ε by each method, and the smallest false-negative rate of an attack at each false-positive rate.", "قيمة δ عند كل ε بكل طريقة، وأقل معدل سلبيات كاذبة لأي هجوم عند كل معدل إيجابيات كاذبة.";
    lab_advantage: "No attack has an advantage above {advantage}.", "لا تزيد أفضلية أي هجوم على {advantage}.";
    lab_bad: "Bad outcomes", "النتائج السيئة";
    lab_bad_note: "If an outcome has this probability without your data, its probability with your data is in this range.", "إذا كان للنتيجة هذا الاحتمال من دون بياناتك، فاحتمالها مع بياناتك يقع ضمن هذا المدى.";
    lab_without: "without your data", "من دون بياناتك";
    lab_with: "with your data", "مع بياناتك";
    lab_at_least: "at least", "على الأقل";
    lab_at_most: "at most", "على الأكثر";
    lab_proposition: "Proposition 10 alone", "القضية 10 وحدها";
    lab_posterior: "Someone who was [[{prior} %]] sure about you ends at most [[{posterior} %]] sure, except with probability {probability}.", "من كان متأكدًا بنسبة [[{prior} %]] من أمر يخصّك لا تزيد نسبة تأكده بعد الإجابة على [[{posterior} %]]، إلا باحتمال {probability}.";
    lab_composition: "Composition", "التركيب";
    lab_composition_note: "ε at this δ if the event happens n times.", "قيمة ε عند δ هذه إذا تكرر الحدث n مرة.";
    lab_copy_as: "Compute it elsewhere", "احسبه خارج هذه الصفحة";
    lab_cli: "Command line", "سطر الأوامر";
    lab_curl: "curl", "curl";
    lab_rust: "Rust", "Rust";
    lab_all: "Draw all charts", "ارسم كل الرسوم";
    lab_drawing: "Drawing…", "جارٍ الرسم…";
    lab_cannot: "This event cannot be accounted for", "لا يمكن حساب كلفة هذا الحدث";
    lab_empty: "Type a privacy event, or choose an example above.", "اكتب حدث خصوصية، أو اختر مثالًا مما سبق.";
    lab_figures: "The paper's figures", "أشكال الورقة البحثية";
    lab_figures_lead: "Mironov, Rényi Differential Privacy (2017), with parameters of your choice.", "ميرونوف، الخصوصية التفاضلية لريني (2017)، بمعاملات تختارها.";
    figure: "Figure {number}", "الشكل {number}";
    figure_1: "Rényi budget curves of randomized response, Laplace and Gaussian noise", "منحنيات ميزانية ريني للاستجابة العشوائية وضوضاء لابلاس وضوضاء غاوس";
    figure_2: "Probability of a bad outcome after n rounds: four bounds and the exact value", "احتمال النتيجة السيئة بعد n جولة: أربعة حدود والقيمة الدقيقة";
    figure_3: "Rounds of three mechanisms: all orders, the paper's 13 orders, and the exact value", "جولات من ثلاث آليات: كل الرتب، ورتب الورقة البحثية الثلاث عشرة، والقيمة الدقيقة";
    figure_rr: "Randomized response p", "الاستجابة العشوائية p";
    figure_laplace: "Laplace scale λ", "مقياس لابلاس λ";
    figure_gaussian: "Gaussian σ", "غاوس σ";
    figure_back: "Back to the laboratory", "العودة إلى المختبر";
    figure_draw: "Draw", "ارسم";

    // The audit.
    audit_lead: "The log is a Merkle tree. An auditor who keeps a checkpoint can prove later that no entry was rewritten.", "السجل شجرة ميركل. والمدقق الذي يحتفظ بنقطة تحقق يستطيع أن يثبت لاحقًا أنه لم تُعَد كتابة أي قيد.";
    audit_chain: "State of the log", "حالة السجل";
    audit_size: "Entries", "القيود";
    audit_root: "Root", "الجذر";
    audit_checkpoint: "Checkpoint, to keep", "نقطة تحقق، لتحتفظ بها";
    audit_key: "Signed with the key", "موقّعة بالمفتاح";
    audit_unsigned: "not signed", "غير موقّعة";
    audit_verify: "Verify the whole log", "تحقّق من السجل كله";
    audit_verify_lead: "Recomputes the tree and applies the privacy filter to every entry again.", "يعيد حساب الشجرة، ويطبّق مرشّح الخصوصية على كل قيد من جديد.";
    audit_verified: "Verified: the log is intact and no budget was exceeded.", "السجل سليم، ولم تُتجاوز أي ميزانية.";
    audit_not_verified: "The log is not intact.", "السجل غير سليم.";
    audit_unknown: "The log was not verified.", "تعذّر التحقق من السجل.";
    audit_accounts: "Accounts", "الحسابات";
    audit_charges: "Charges", "عمليات الخصم";
    audit_committed: "Committed", "المثبَّتة";
    audit_denied: "Refused", "المرفوضة";
    audit_voided: "Voided", "الملغاة";
    audit_pending: "Reserved", "المحجوزة";
    audit_priced: "Costs recomputed", "الكُلَف المعاد حسابها";
    audit_answers: "Stored answers", "الإجابات المحفوظة";
    audit_gaps: "Gaps", "الفجوات";
    audit_account: "account", "الحساب";
    audit_warnings: "Warnings", "تنبيهات";
    audit_extends: "Compare with a checkpoint that you kept", "قارن بنقطة تحقق احتفظت بها";
    audit_extends_lead: "Your browser checks that the log extends the log of your checkpoint.", "يتحقق متصفحك من أن السجل امتداد للسجل عند نقطة التحقق التي لديك.";
    audit_old_size: "Entries in the checkpoint", "عدد القيود في نقطة التحقق";
    audit_old_root: "Root in the checkpoint", "الجذر في نقطة التحقق";
    audit_compare: "Compare", "قارن";
    audit_extends_good: "Verified: the log extends the log of your checkpoint.", "ثبت أن السجل امتداد للسجل عند نقطة التحقق.";
    audit_extends_bad: "The log does not extend the log of your checkpoint. Keep the checkpoint and tell the data owner.", "ليس السجل امتدادًا للسجل عند نقطة التحقق. احتفظ بها وأبلغ مالك البيانات.";
    audit_self: "Self-tests", "الاختبارات الذاتية";
    audit_self_lead: "Runs each noise mechanism on two neighbouring inputs and tries to refute its claimed ε; compares the accountant with closed forms.", "يشغّل كل آلية ضوضاء على مدخلين متجاورين ويحاول دحض ε المعلنة لها، ويقارن نتائج المحاسب بصيغ مغلقة.";
    audit_self_button: "Run the self-tests", "شغّل الاختبارات الذاتية";
    audit_self_noise: "noise of {event}", "ضوضاء {event}";
    audit_self_noise_found: "claimed [[ε {claimed}]]; the best attack in {runs} proves [[ε ≥ {found}]]", "المعلن [[ε {claimed}]]؛ وأفضل هجوم في {runs} يثبت أن [[ε ≥ {found}]]";
    audit_self_form: "accountant: {event}", "المحاسب: {event}";
    audit_self_form_found: "[[ε({order}) = {found}]], closed form {expected}", "[[ε({order}) = {found}]]، والصيغة المغلقة {expected}";
    audit_passed: "passed", "نجح";
    audit_failed: "failed", "فشل";
    audit_log: "Log", "السجل";
    audit_log_none: "The log has no entry in this range.", "لا قيود في السجل ضمن هذا المدى.";
    audit_time: "time", "الوقت";
    audit_what: "kind", "العملية";
    audit_about: "details", "التفاصيل";
    audit_older: "Older", "الأقدم";
    audit_newer: "Newer", "الأحدث";
    kind_opened: "opened", "فتح الدفتر";
    kind_created: "created", "إنشاء حساب";
    kind_reserved: "reserved", "حجز";
    kind_denied: "refused", "رفض";
    kind_started: "started", "بدء";
    kind_committed: "committed", "تثبيت";
    kind_voided: "voided", "إلغاء";
    kind_raised: "raised", "رفع الميزانية";
    kind_restored: "restored", "استعادة نسخة أقدم";

    // Problems.
    problem_not_found: "Not found", "غير موجود";
    problem_forbidden: "Your role does not allow this", "دورك لا يسمح بهذا";
    problem_csrf: "This form is from another session", "هذا النموذج من جلسة أخرى";
    problem_too_many: "Too many requests", "طلبات كثيرة جدًّا";
    problem_busy: "The server is overloaded", "الخادم مثقل بالطلبات الآن";
    problem_other: "The request failed", "لم ينجح الطلب";
    problem_inside: "The server has a problem", "حدث خلل في الخادم";
    problem_home: "To the budgets", "إلى الميزانيات";
    problem_network: "The server cannot be reached. Nothing was lost; try again.", "تعذّر الوصول إلى الخادم. لم يُفقد شيء؛ حاول من جديد.";
    problem_signed_out: "Your session ended. Sign in again.", "انتهت جلستك. سجّل الدخول من جديد.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn both_languages_have_the_same_placeholders() {
        for (key, english, arabic) in ALL {
            assert_eq!(placeholders(english), placeholders(arabic), "{key}");
            assert!(
                !english.trim().is_empty() && !arabic.trim().is_empty(),
                "{key}"
            );
        }
    }

    #[test]
    fn arabic_is_arabic_and_has_latin_digits() {
        let is_arabic = |c: char| ('\u{600}'..='\u{6ff}').contains(&c);
        for (key, english, arabic) in ALL {
            assert!(
                !arabic.chars().any(|c| matches!(c, '٠'..='٩' | '۰'..='۹')),
                "{key}"
            );
            // Formulas and names of languages are the same everywhere.
            let same = matches!(
                *key,
                "other_language" | "lab_delta" | "lab_curl" | "lab_rust"
            ) || key.starts_with("receipt_at_");
            assert!(same || arabic.chars().any(is_arabic), "{key}: {arabic}");
            assert!(same || !english.chars().any(is_arabic), "{key}: {english}");
        }
    }
}
