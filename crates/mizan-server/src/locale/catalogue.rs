//! Every sentence of the pages, in English and in Arabic beside each other.
//!
//! A key without one of the languages does not compile; a test below sees that both
//! have the same `{placeholders}`. Formulas in `[[…]]` keep their direction. Terms of differential privacy in Arabic are those
//! of the translated papers: ميزانية الخصوصية, اختلاف ريني, الضوضاء, التركيب.

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
    nav_ask: "Ask", "اسأل";
    nav_laboratory: "Laboratory", "المختبر";
    nav_receipts: "Receipts", "الإيصالات";
    nav_audit: "Audit", "التدقيق";
    other_language: "العربية", "English";
    theme_to_dark: "Dark", "داكن";
    theme_to_light: "Light", "فاتح";
    theme: "Theme", "المظهر";
    sign_out: "Sign out", "تسجيل الخروج";
    role_owner: "owner", "المالك";
    role_analyst: "analyst", "محلل";
    role_auditor: "auditor", "مدقق";
    role_runner: "runner", "مشغّل";
    footer: "Differential privacy, measured and kept. Costs are rounded up, what is left is rounded down.", "الخصوصية التفاضلية، مقيسةً ومحفوظة. تُقرَّب الكُلفة إلى الأعلى ويُقرَّب المتبقي إلى الأدنى.";
    reference: "API reference", "مرجع الواجهة البرمجية";
    copy: "Copy", "انسخ";
    copied: "Copied", "نُسخ";
    details: "Details", "التفاصيل";

    // Signing in.
    sign_in: "Sign in", "تسجيل الدخول";
    sign_in_lead: "One budget, many analysts. Paste the token that the owner of the data gave you.", "ميزانية واحدة ومحللون كثيرون. ألصق الرمز الذي أعطاك إياه مالك البيانات.";
    sign_in_token: "Token", "الرمز";
    sign_in_hint: "It begins with mizan_ and is made by", "يبدأ بـ mizan_ ويُنشأ بالأمر";
    sign_in_failed: "This token is not known here, is expired, or was revoked.", "هذا الرمز غير معروف هنا، أو انتهت صلاحيته، أو أُلغي.";
    sign_in_kept: "The token itself is not kept: this browser gets a session of twelve hours.", "لا يُحفظ الرمز نفسه: يحصل هذا المتصفح على جلسة مدتها اثنتا عشرة ساعة.";

    // Budgets.
    budgets_lead: "What may still be learned from each dataset. Every answer is charged before it leaves.", "ما يمكن معرفته بعدُ من كل مجموعة بيانات. تُخصم كلفة كل إجابة قبل أن تخرج.";
    budgets_none: "There is no budget yet", "لا توجد ميزانية بعد";
    budgets_none_help: "A budget comes with its dataset. The owner adds one so:", "تأتي الميزانية مع مجموعة بياناتها. يضيفها المالك هكذا:";
    budgets_none_analyst: "No dataset was given to this token. Ask the owner for one.", "لم تُمنح لهذا الرمز أي مجموعة بيانات. اطلبها من المالك.";
    budgets_left: "left", "متبقٍّ";
    budgets_left_of: "[[ε {left}]] left of {whole}", "بقي [[ε {left}]] من {whole}";
    budgets_at_delta: "at [[δ {delta}]]", "عند [[δ {delta}]]";
    budgets_exhausted: "Nothing is left", "لم يبق شيء";
    budgets_about: "About {count} more like the last question", "نحو {count} أخرى مثل السؤال الأخير";
    budgets_about_none: "Not one more like the last question", "ولا سؤال آخر مثل الأخير";
    budgets_untouched: "Nothing was asked yet", "لم يُسأل شيء بعد";
    budgets_below: "part of {parent}", "جزء من {parent}";
    budgets_pays: "pays for {datasets}", "تدفع عن {datasets}";
    budgets_live: "live", "مباشر";
    budgets_not_live: "not live: reload to see changes", "غير مباشر: أعد التحميل لرؤية التغييرات";
    budgets_burn_down: "How it burned down", "كيف نقصت";
    budgets_no_burn_down: "The log is too long to draw here; ask the command line:", "السجل أطول من أن يُرسم هنا؛ استعمل سطر الأوامر:";
    budgets_account: "Account", "الحساب";
    budgets_ask: "Ask about it", "اسأل عنها";
    budgets_all: "All budgets", "كل الميزانيات";
    budget_promise: "Promise", "الوعد";
    budget_left: "Left", "المتبقي";
    budget_spent: "Spent so far", "المنفَق حتى الآن";
    budget_spent_note: "an estimate from the totals, not the guarantee", "تقدير من المجاميع، وليس الضمان";
    budget_guarantee: "Guarantee", "الضمان";
    budget_guarantee_note: "whatever is asked, in whatever order", "مهما كان السؤال وبأي ترتيب";
    budget_last: "Last charged", "آخر خصم";
    budget_more: "About how many more fit", "كم يتسع بعد تقريبًا";
    budget_unanswered: "Charges without an answer", "عمليات خصم بلا إجابة";
    budget_unanswered_note: "Each is a query that runs now, or one that failed after its charge. Asking the same again goes on for free.", "كل منها سؤال يُحسب الآن، أو سؤال تعثّر بعد خصم كلفته. إعادة السؤال نفسه تستمر مجانًا.";
    budget_raised: "This budget was raised: the guarantee is the composition of both epochs.", "رُفعت هذه الميزانية: الضمان هو تركيب الفترتين.";
    budget_pure: "pure: without δ", "نقية: بلا δ";
    budget_own_delta: "δ used for hiding small groups", "δ المستعملة لإخفاء الفئات الصغيرة";
    budget_own_delta_of: "{taken} of {limit}", "{taken} من {limit}";
    budget_orders: "Order by order", "رتبةً رتبة";
    budget_orders_note: "A question is admitted while at least one Rényi order has room.", "يُقبل السؤال ما دام في رتبة ريني واحدة على الأقل متسع.";
    budget_order: "order α", "الرتبة α";
    budget_limit: "limit", "الحد";
    budget_taken: "spent", "المنفَق";
    budget_pending: "pending", "المحجوز";
    budget_room: "left", "المتبقي";
    budget_decides: "decides", "تحكم";
    budget_gap: "An old copy of the ledger was restored at entry {position}: {known} entries had been known.", "استُعيدت نسخة قديمة من الدفتر عند القيد {position}: كان {known} قيدًا معروفًا.";

    // Asking.
    ask_lead: "Write a question. See what it costs and how good it will be. Nothing is spent until you press the button.", "اكتب سؤالًا، وانظر كم يكلّف وكم ستكون دقته. لا يُنفق شيء حتى تضغط الزر.";
    ask_sql: "Question in SQL", "السؤال بلغة SQL";
    ask_sql_hint: "A SELECT with COUNT, SUM, AVG and friends. Ctrl+Enter asks.", "عبارة SELECT مع COUNT وSUM وAVG وأمثالها. ‏Ctrl+Enter للسؤال.";
    ask_how_much: "How much to spend", "كم تنفق";
    ask_usual: "The usual: a tenth of the promise", "المعتاد: عُشر الوعد";
    ask_by_epsilon: "At most this ε", "على الأكثر هذا ε";
    ask_by_accuracy: "As much as it takes to be within ±", "بقدر ما يلزم للبقاء ضمن ±";
    ask_epsilon: "ε to spend", "ε المنفَق";
    ask_accuracy: "Half width of the interval", "نصف عرض الفترة";
    ask_accuracy_unit: "95 times in 100", "95 مرة من 100";
    ask_less: "more noise", "ضوضاء أكثر";
    ask_more: "less noise", "ضوضاء أقل";
    ask_quote: "Quote", "التسعير";
    ask_quote_button: "Show the price", "اعرض الكلفة";
    ask_button: "Ask and spend", "اسأل وأنفق";
    ask_asking: "Asking…", "جارٍ السؤال…";
    ask_pricing: "Pricing…", "جارٍ التسعير…";
    ask_quote_empty: "The price appears here as you type. It reads no data.", "تظهر الكلفة هنا أثناء الكتابة. التسعير لا يقرأ البيانات.";
    ask_once: "This form pays once: reloading or pressing twice gives the same answer for free.", "هذا النموذج يدفع مرة واحدة: إعادة التحميل أو الضغط مرتين تعطي الإجابة نفسها مجانًا.";
    ask_again: "Nothing was asked by opening this page. If you asked this before your session ended, press the button again: the key of the question was kept, so you pay at most once.", "لم يُسأل شيء بفتح هذه الصفحة. إن كنت قد سألت هذا قبل انتهاء جلستك فاضغط الزر من جديد: حُفظ مفتاح السؤال، فلن تدفع أكثر من مرة واحدة.";
    ask_datasets: "Datasets", "مجموعات البيانات";
    ask_no_datasets: "There is nothing to ask about", "لا يوجد ما يُسأل عنه";
    ask_unit: "protects each {unit}", "تحمي كل {unit}";
    ask_public: "about nobody: free to read", "لا تخص أحدًا: قراءتها مجانية";
    ask_row_per_unit: "at most one row of each counts", "يُحتسب لكل واحد صف واحد على الأكثر";
    ask_rows_per_unit: "at most {count} rows of each count", "يُحتسب لكل واحد {count} من الصفوف على الأكثر";
    ask_group_per_unit: "in at most one group", "في مجموعة واحدة على الأكثر";
    ask_groups_per_unit: "in at most {count} groups", "في {count} من المجموعات على الأكثر";
    ask_column: "column", "العمود";
    ask_type: "type", "النوع";
    ask_bounds: "clamped to", "محصور في";
    ask_keys: "groups", "المجموعات";
    ask_try: "Try", "جرّب";

    // A quote.
    quote_cost: "Cost", "الكلفة";
    quote_error: "Predicted error", "الخطأ المتوقع";
    quote_error_unknown: "depends on the data", "يعتمد على البيانات";
    quote_left_now: "Left now", "المتبقي الآن";
    quote_left_after: "Left after", "المتبقي بعده";
    quote_more: "Questions like this that fit", "الأسئلة المماثلة التي تتسع";
    quote_groups: "Groups", "المجموعات";
    quote_fits_not: "This does not fit into what is left.", "هذا لا يتسع له المتبقي.";
    quote_reserved: "δ for hiding small groups", "δ لإخفاء الفئات الصغيرة";
    quote_reserved_of: "{asked}; {left} of {reserved} is left", "{asked}؛ والمتبقي {left} من {reserved}";
    quote_reserved_short: "The δ reserved for hiding small groups does not suffice; a smaller ε does not help. List the keys of the groups in the catalogue, or ask the owner for a budget with a larger δ.", "لا تكفي δ المخصصة لإخفاء الفئات الصغيرة، ولا ينفع إنفاق ε أقل. حدّد مفاتيح الفئات في الفهرس، أو اطلب من المالك ميزانية ذات δ أكبر.";
    quote_fits_not_help: "Spend less ε, ask for fewer columns, or let the owner raise the budget.", "أنفق ε أقل، أو اطلب أعمدة أقل، أو دع المالك يرفع الميزانية.";
    quote_event: "What would be released", "ما الذي سيُصدر";
    quote_why: "How the noise was chosen", "كيف اختيرت الضوضاء";
    quote_clamping: "Contribution limits (their effect is not included in the ±)", "حدود المساهمة (لا يدخل أثرها في ±)";
    quote_notes: "Notes", "ملاحظات";
    quote_cannot: "No price yet", "لا كلفة بعد";
    quote_free: "free", "مجانًا";

    // An answer.
    answer: "Answer", "الإجابة";
    answer_spent: "Spent", "أُنفق";
    answer_left: "Left", "بقي";
    answer_interval: "Intervals hold {confidence} times in 100.", "تصح الفترات {confidence} مرة من 100.";
    answer_receipt: "Receipt", "الإيصال";
    answer_repeated: "This was answered before. It is the same answer, and cost nothing now.", "أُجيب عن هذا من قبل. إنها الإجابة نفسها، ولم تكلّف شيئًا الآن.";
    answer_none: "The answer has no rows", "لا صفوف في الإجابة";
    answer_too_few: "too few rows", "الصفوف أقل من أن تكفي";
    answer_value: "value", "القيمة";
    answer_low: "low", "الأدنى";
    answer_high: "high", "الأعلى";
    answer_chart: "Chart with noise intervals", "رسم بفترات الضوضاء";
    refused: "Refused by the budget", "رفضته الميزانية";
    refused_lead: "Nothing was charged and no row was read.", "لم يُخصم شيء ولم يُقرأ أي صف.";
    refused_asked: "Asked", "المطلوب";
    refused_fits: "The largest part that fits", "أكبر جزء يتسع";
    failed: "The question cannot be answered", "لا يمكن الإجابة عن السؤال";
    failed_charged: "It was charged before it failed. Asking again with the same form goes on for free.", "خُصمت الكلفة قبل التعثر. إعادة السؤال من النموذج نفسه تستمر مجانًا.";
    failed_code: "Code", "الرمز";
    failed_next: "What to do", "ما العمل";

    // Receipts.
    receipts_lead: "A receipt proves that a charge is in the log, and that the log was not rewritten since.", "يثبت الإيصال أن الخصم في السجل، وأن السجل لم يُعَد كتابته منذ ذلك.";
    receipts_field: "Receipt or id", "إيصال أو معرّف";
    receipts_open: "Open", "افتح";
    receipts_none: "No receipt like this for you", "لا إيصال كهذا لك";
    receipt_who: "Who", "من";
    receipt_when: "When", "متى";
    receipt_question: "Question", "السؤال";
    receipt_released: "Released", "ما أُصدر";
    receipt_account: "Account", "الحساب";
    receipt_kind: "Entry", "القيد";
    receipt_position: "Position", "الموضع";
    receipt_cost: "Charged, order by order", "المخصوم، رتبةً رتبة";
    receipt_own_delta: "own δ", "δ الخاصة";
    receipt_derivation: "How the cost comes about", "كيف تنشأ الكلفة";
    receipt_best: "[[ε ≤ {epsilon}]] at [[δ {delta}]] by {method}", "[[ε ≤ {epsilon}]] عند [[δ {delta}]] بطريقة {method}";
    receipt_part: "part", "الجزء";
    receipt_at_one: "ε(1)", "ε(1)";
    receipt_at_best: "ε(α)", "ε(α)";
    receipt_at_inf: "ε(∞)", "ε(∞)";
    receipt_by_nobody: "not asked through this server", "لم يُسأل عبر هذا الخادم";
    receipt_proof: "Merkle proof", "برهان ميركل";
    receipt_proof_lead: "Entry {position} of {size}. Hashing the leaf with these siblings must give the root.", "القيد {position} من {size}. تجزئة الورقة مع هذه الجارات يجب أن تعطي الجذر.";
    receipt_leaf: "Leaf", "الورقة";
    receipt_siblings: "Siblings, from the leaf up", "الجارات، من الورقة صعودًا";
    receipt_root: "Root of the log", "جذر السجل";
    receipt_root_then: "Root in the receipt", "الجذر في الإيصال";
    receipt_alone: "The log has one entry: the leaf is the root.", "في السجل قيد واحد: الورقة هي الجذر.";
    receipt_verify: "Verify in this page", "تحقق في هذه الصفحة";
    receipt_verify_lead: "Your browser computes the root itself with SHA-256 (RFC 6962). Paste a root that you trust, from a checkpoint you kept, to compare with it too.", "يحسب متصفحك الجذر بنفسه بـ SHA-256 (RFC 6962). ألصق جذرًا تثق به، من نقطة تحقق احتفظت بها، للمقارنة به أيضًا.";
    receipt_trusted: "A root that you trust (optional)", "جذر تثق به (اختياري)";
    receipt_verify_script: "Verifying in the page needs JavaScript. The command line does it too:", "التحقق في الصفحة يحتاج إلى JavaScript. وسطر الأوامر يقوم به أيضًا:";
    receipt_computed: "Computed", "المحسوب";
    receipt_good: "The entry is in the log: the root computed here is the root shown.", "القيد في السجل: الجذر المحسوب هنا هو الجذر المعروض.";
    receipt_bad: "The proof does not lead to this root. Keep the receipt and tell an auditor.", "لا يقود البرهان إلى هذا الجذر. احتفظ بالإيصال وأخبر مدققًا.";
    receipt_extends_good: "The log of today extends the log of the receipt.", "سجل اليوم امتداد لسجل الإيصال.";
    receipt_extends_bad: "The log of today does not extend the log of the receipt.", "سجل اليوم ليس امتدادًا لسجل الإيصال.";
    receipt_trusted_good: "It is the root that you pasted.", "إنه الجذر الذي ألصقته.";
    receipt_trusted_bad: "It is not the root that you pasted. A later log has another root: compare checkpoints of the same size.", "ليس الجذر الذي ألصقته. للسجل اللاحق جذر آخر: قارن نقطتي تحقق بالحجم نفسه.";
    receipt_trusted_form: "A root has 64 hexadecimal digits.", "للجذر 64 خانة ست عشرية.";
    receipt_text: "The receipt, to keep", "الإيصال، للحفظ";

    // The laboratory.
    lab_lead: "Type an event and see what it reveals. Nothing here touches data or budgets.", "اكتب حدثًا وانظر ماذا يكشف. لا شيء هنا يمس البيانات أو الميزانيات.";
    lab_event: "Event", "الحدث";
    lab_examples: "Examples", "أمثلة";
    lab_example_training: "private training", "تدريب خاص";
    lab_example_paper: "the paper's rounds", "جولات الورقة";
    lab_example_survey: "a survey with randomized response", "استبيان باستجابة عشوائية";
    lab_example_counts: "a table of counts", "جدول من الأعداد";
    lab_example_gaussian: "Gaussian noise once", "ضوضاء غاوس مرة واحدة";
    lab_delta: "δ", "δ";
    lab_baseline: "Baseline risk", "مخاطر خط الأساس";
    lab_parameters: "Parameters of the event", "معاملات الحدث";
    lab_compute: "Compute", "احسب";
    lab_bound: "ε at this δ", "ε عند δ هذه";
    lab_exact_between: "exactly between {lower} and {upper}", "بالضبط بين {lower} و{upper}";
    lab_by_method: "by {method}", "بطريقة {method}";
    lab_methods: "Every method", "كل الطرائق";
    lab_method: "method", "الطريقة";
    lab_upper: "ε at most", "ε على الأكثر";
    lab_lower: "ε at least", "ε على الأقل";
    lab_order: "order α", "الرتبة α";
    lab_refused: "Methods that do not apply", "طرائق لا تنطبق";
    lab_curve: "Rényi curve", "منحنى ريني";
    lab_no_curve: "This event has no Rényi curve.", "ليس لهذا الحدث منحنى ريني.";
    lab_profile: "Privacy profile and trade-off", "ملف الخصوصية والمقايضة";
    lab_profile_note: "δ at every ε by every method; and what the best attack misses at each rate of false alarms.", "δ عند كل ε بكل طريقة؛ وما يفوت أفضل هجوم عند كل معدل إنذار كاذب.";
    lab_advantage: "No attack has an advantage above {advantage}.", "لا هجوم تتجاوز أفضليته {advantage}.";
    lab_bad: "Bad outcomes", "النتائج السيئة";
    lab_bad_note: "If something bad has this probability without your data, it has one in this range with them.", "إذا كان لأمر سيئ هذا الاحتمال من دون بياناتك، فاحتماله معها ضمن هذا النطاق.";
    lab_without: "without you", "من دونك";
    lab_with: "with you", "معك";
    lab_at_least: "at least", "على الأقل";
    lab_at_most: "at most", "على الأكثر";
    lab_proposition: "Proposition 10 alone", "المقترح 10 وحده";
    lab_posterior: "A belief of {prior} about you becomes at most {posterior}, but with probability {probability}.", "اعتقاد بمقدار {prior} عنك يصبح {posterior} على الأكثر، إلا باحتمال {probability}.";
    lab_composition: "Composition over n", "التركيب عبر n";
    lab_composition_note: "ε at this δ after n times the event.", "ε عند δ هذه بعد n مرة من الحدث.";
    lab_copy_as: "The same elsewhere", "الشيء نفسه في مكان آخر";
    lab_cli: "Command line", "سطر الأوامر";
    lab_curl: "curl", "curl";
    lab_rust: "Rust", "Rust";
    lab_all: "Draw all charts", "ارسم كل الرسوم";
    lab_drawing: "Drawing…", "جارٍ الرسم…";
    lab_cannot: "This event cannot be accounted for", "لا يمكن حساب هذا الحدث";
    lab_empty: "Type an event, or take an example above.", "اكتب حدثًا أو خذ مثالًا من أعلاه.";
    lab_figures: "The paper's figures, live", "أشكال الورقة، حيّة";
    lab_figures_lead: "Mironov, Rényi Differential Privacy (2017), drawn anew with your parameters.", "ميرونوف، الخصوصية التفاضلية لريني (2017)، مرسومة من جديد بمعاملاتك.";
    figure: "Figure {number}", "الشكل {number}";
    figure_1: "Budget curves of randomized response, Laplace and Gaussian noise", "منحنيات الميزانية للاستجابة العشوائية وضوضاء لابلاس وغاوس";
    figure_2: "What n rounds do to the probability of a bad outcome, by four analyses and exactly", "ما تفعله n جولة باحتمال نتيجة سيئة، بأربعة تحليلات وبالضبط";
    figure_3: "Rounds of three mechanisms together: all orders, the paper's 13, and the truth", "جولات من ثلاث آليات معًا: كل الرتب، ورتب الورقة الثلاث عشرة، والحقيقة";
    figure_rr: "Randomized response p", "الاستجابة العشوائية p";
    figure_laplace: "Laplace scale λ", "مقياس لابلاس λ";
    figure_gaussian: "Gaussian σ", "غاوس σ";
    figure_back: "Back to the laboratory", "العودة إلى المختبر";
    figure_draw: "Draw", "ارسم";

    // The audit.
    audit_lead: "The log is a Merkle tree. Whoever keeps a checkpoint can see that nothing was rewritten.", "السجل شجرة ميركل. من يحتفظ بنقطة تحقق يرى أن شيئًا لم يُعَد كتابته.";
    audit_chain: "State of the log", "حالة السجل";
    audit_size: "Entries", "القيود";
    audit_root: "Root", "الجذر";
    audit_checkpoint: "Checkpoint, to keep", "نقطة تحقق، للحفظ";
    audit_key: "Signed by", "موقّعة بـ";
    audit_unsigned: "not signed", "غير موقّعة";
    audit_verify: "Verify the whole log", "تحقق من السجل كله";
    audit_verify_lead: "Recomputes the tree and runs the filter again over every entry.", "يعيد حساب الشجرة ويعيد تشغيل المرشّح على كل قيد.";
    audit_verified: "The log is as it says", "السجل كما يقول";
    audit_not_verified: "The log is not as it says", "السجل ليس كما يقول";
    audit_accounts: "Accounts", "الحسابات";
    audit_charges: "Charges", "الخصوم";
    audit_committed: "Committed", "المثبت";
    audit_denied: "Refused", "المرفوض";
    audit_voided: "Given back", "المُعاد";
    audit_pending: "Pending", "المحجوز";
    audit_priced: "Priced again", "أعيد تسعيره";
    audit_answers: "Answers kept", "الإجابات المحفوظة";
    audit_gaps: "Gaps", "الفجوات";
    audit_witnesses: "Witnesses", "الشهود";
    audit_warnings: "To look at", "ما يستدعي النظر";
    audit_extends: "Compare with a checkpoint you kept", "قارن بنقطة تحقق احتفظت بها";
    audit_extends_lead: "Your browser checks that the log of today extends the one you knew.", "يتحقق متصفحك من أن سجل اليوم امتداد للسجل الذي عرفته.";
    audit_old_size: "Entries then", "القيود حينها";
    audit_old_root: "Root then", "الجذر حينها";
    audit_compare: "Compare", "قارن";
    audit_extends_good: "The log of today extends the one you knew.", "سجل اليوم امتداد للسجل الذي عرفته.";
    audit_extends_bad: "The log of today does not extend the one you knew. Keep your checkpoint and tell others.", "سجل اليوم ليس امتدادًا للسجل الذي عرفته. احتفظ بنقطة التحقق وأخبر غيرك.";
    audit_self: "Self-tests", "الاختبارات الذاتية";
    audit_self_lead: "Runs the noise on two neighbouring inputs and tries to refute what it claims; compares the accountant with closed forms.", "يشغّل الضوضاء على مدخلين متجاورين ويحاول دحض ما تدّعيه؛ ويقارن المحاسب بصيغ مغلقة.";
    audit_self_button: "Run the self-tests", "شغّل الاختبارات الذاتية";
    audit_self_noise: "noise of {event}", "ضوضاء {event}";
    audit_self_noise_found: "claims [[ε {claimed}]]; the best attack in {runs} runs proves [[ε ≥ {found}]]", "تدّعي [[ε {claimed}]]؛ وأفضل هجوم في {runs} تشغيلة يثبت [[ε ≥ {found}]]";
    audit_self_form: "accountant: {event}", "المحاسب: {event}";
    audit_self_form_found: "[[ε({order}) = {found}]], closed form {expected}", "[[ε({order}) = {found}]]، والصيغة المغلقة {expected}";
    audit_passed: "passed", "ناجح";
    audit_failed: "failed", "فاشل";
    audit_log: "Log", "السجل";
    audit_log_none: "The log has no entry in this range.", "لا قيد في السجل ضمن هذا المدى.";
    audit_time: "time", "الوقت";
    audit_what: "what", "ماذا";
    audit_about: "about", "عن";
    audit_older: "Older", "الأقدم";
    audit_newer: "Newer", "الأحدث";
    kind_opened: "opened", "فُتح";
    kind_created: "created", "أُنشئ";
    kind_reserved: "reserved", "حُجز";
    kind_denied: "refused", "رُفض";
    kind_started: "started", "بدأ";
    kind_committed: "committed", "ثُبّت";
    kind_voided: "given back", "أُعيد";
    kind_raised: "raised", "رُفعت";
    kind_restored: "restored", "استُعيد";

    // What goes wrong.
    problem_not_found: "There is nothing here", "لا شيء هنا";
    problem_not_found_help: "The address may be mistyped, or what it names is not for this token.", "قد يكون العنوان خاطئًا، أو أن ما يسميه ليس لهذا الرمز.";
    problem_forbidden: "This is not for your role", "هذا ليس لدورك";
    problem_csrf: "This form is from another session", "هذا النموذج من جلسة أخرى";
    problem_too_many: "Too many requests", "طلبات كثيرة جدًا";
    problem_busy: "Too much to do just now", "العمل كثير الآن";
    problem_other: "This did not work", "لم ينجح هذا";
    problem_inside: "Something is wrong on our side", "ثمة خلل من جهتنا";
    problem_home: "To the budgets", "إلى الميزانيات";
    problem_network: "The server cannot be reached. Nothing was lost; try again.", "تعذر الوصول إلى الخادم. لم يضع شيء؛ حاول من جديد.";
    problem_signed_out: "You are signed out. Sign in again.", "انتهت جلستك. سجّل الدخول من جديد.";
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
