//! The server: requests, tokens, TLS.

super::codes! {
    MZ2001 Unauthenticated
        ("The request has no valid token.", "Send `Authorization: Bearer mizan_...` with a token of the data owner.")
        ("ليس في الطلب رمز دخول صالح.", "سجّل الدخول برمز من مالك البيانات.");
    MZ2002 Forbidden
        ("The role of the token does not allow this.", "Use a token of another role.")
        ("لا يسمح دور هذا الرمز بهذا.", "استعمل رمزًا له دور آخر.");
    MZ2003 NotFound
        ("The resource does not exist, or the token may not see it.", "List what the token may see.")
        ("ما تطلبه غير موجود، أو لا يحق لهذا الرمز أن يراه.", "اعرض قائمة ما يحق لهذا الرمز أن يراه.");
    MZ2004 MethodNotAllowed
        ("The method is not allowed for this address.", "Use a method of the API reference (`/api/reference`).")
        ("طريقة الطلب غير مسموح بها لهذا العنوان.", "استعمل طريقة مذكورة في مرجع الواجهة البرمجية (/api/reference).");
    MZ2005 StaleForm
        ("The form belongs to another session.", "Reload the page and send the form again.")
        ("النموذج ليس من هذه الجلسة.", "أعد تحميل الصفحة وأرسله مرة أخرى.");
    MZ2006 TooLarge
        ("The request body is too large.", "Send less per request.")
        ("متن الطلب أكبر من الحجم المسموح.", "أرسل أقل في كل طلب.");
    MZ2007 RequestTimeout
        ("The request body did not arrive in time.", "Send the body without pauses.")
        ("لم يصل متن الطلب في الوقت المحدد.", "أرسل المتن بلا توقف.");
    MZ2008 Malformed
        ("The request cannot be read.", "See the API reference (`/api/reference`) for the expected form.")
        ("لا يمكن قراءة الطلب.", "انظر الصيغة المطلوبة في مرجع الواجهة البرمجية (/api/reference).");
    MZ2009 UnsupportedMediaType
        ("The request body is not declared as JSON.", "Send `Content-Type: application/json`.")
        ("نوع متن الطلب المعلن ليس JSON.", "أرسل الترويسة Content-Type: application/json.");
    MZ2010 RateLimited
        ("The token exceeds its rate limit or its concurrent requests.", "Wait as long as `Retry-After` says.")
        ("تجاوز هذا الرمز حدّ معدّل الطلبات أو حدّ الطلبات المتزامنة.", "انتظر قليلًا ثم أعد المحاولة.");
    MZ2011 Unavailable
        ("The server is overloaded.", "Retry after `Retry-After` with the same `Idempotency-Key`.")
        ("الخادم مثقل بالطلبات الآن.", "أعد المحاولة بعد قليل من الصفحة نفسها.");
    MZ2012 DeadlineExceeded
        ("The computation takes longer than the server waits.", "Repeat a quote after a minute: the server goes on counting public rows. For an event, ask for one method, or use the command line.")
        ("يستغرق هذا الحساب أطول مما ينتظر الخادم.", "كرّر طلب التسعير بعد دقيقة، فالخادم يواصل عدّ الصفوف العامة. أما الحدث فاطلب له طريقة واحدة، أو استعمل سطر الأوامر.");
    MZ2013 Internal
        ("A worker thread of the server failed.", "Tell the operator; the log of the server has the details.")
        ("فشل أحد خيوط العمل في الخادم.", "أبلغ مشغّل الخادم؛ التفاصيل في سجل الخادم.");
    MZ2014 TooLarge
        ("The computation is larger than the server accepts.", "Use `mizan account` on the command line, which has no such limit.")
        ("الحساب أكبر مما يقبله الخادم.", "استعمل الأمر mizan account في سطر الأوامر، فليس له هذا الحدّ.");
    MZ2020 BudgetExceeded
        ("The remaining budget does not cover this charge; nothing was charged.", "Ask for less, or the data owner raises the budget; a new attempt needs a new key.")
        ("الرصيد المتبقي لا يكفي لهذا السؤال؛ لم يُخصم شيء.", "أنفق أقل، أو اطلب من مالك البيانات أن يرفع الميزانية.");
    MZ2030 Configuration
        ("The token file cannot be used.", "The operator checks the path and its permissions, or names another with `--tokens`.")
        ("تعذّر استعمال ملف الرموز.", "يتحقق مشغّل الخادم من المسار والأذونات، أو يسمّي ملفًا آخر بـ --tokens.");
    MZ2031 Configuration
        ("Other users can read the token file.", "The operator runs `chmod 600` on the file.")
        ("يستطيع مستخدمون آخرون قراءة ملف الرموز.", "ينفّذ مشغّل الخادم chmod 600 على الملف.");
    MZ2032 Configuration
        ("The tokens cannot be read or written.", "Retry; if the error stays, the operator checks the disk.")
        ("تعذّرت قراءة الرموز أو كتابتها.", "أعد المحاولة؛ فإن بقي الخلل فليتحقق مشغّل الخادم من القرص.");
    MZ2033 Configuration
        ("The token file has another format version.", "The operator names another file with `--tokens`.")
        ("صيغة ملف الرموز من نسخة أخرى.", "يسمّي مشغّل الخادم ملفًا آخر بـ --tokens.");
    MZ2034 Internal
        ("The operating system provides no random numbers for tokens.", "The operator checks getrandom(2) on the machine.")
        ("لا يوفّر نظام التشغيل أعدادًا عشوائية للرموز.", "يتحقق مشغّل الخادم من getrandom(2) على الجهاز.");
    MZ2035 Usage
        ("The text cannot be the name of a token.", "Use 1 to 100 letters, digits and . - _ @.")
        ("لا يصلح هذا اسمًا لرمز.", "استعمل من 1 إلى 100 محرف: حروفًا وأرقامًا ونقطة وشرطة وشرطة سفلية وعلامة @.");
    MZ2036 Usage
        ("The scope of the token is not valid.", "Run `mizan token create --help`.")
        ("نطاق الرمز غير صحيح.", "شغّل الأمر mizan token create --help.");
    MZ2037 NotFound
        ("There is no such token.", "List the tokens with `mizan token list`.")
        ("لا يوجد رمز كهذا.", "اعرض الرموز بالأمر mizan token list.");
    MZ2038 Usage
        ("Several tokens begin with these digits.", "Give more digits; list the tokens with `mizan token list`.")
        ("تبدأ عدة رموز بهذه الخانات.", "أعطِ خانات أكثر؛ واعرض الرموز بالأمر mizan token list.");
    MZ2039 Configuration
        ("The clock of the machine is before 1970, so no token can be checked.", "The operator sets the clock: tokens expire by it.")
        ("ساعة الجهاز قبل عام 1970، فلا يمكن التحقق من أي رمز.", "يضبط مشغّل الخادم ساعة الجهاز، فبها تنتهي صلاحية الرموز.");
    MZ2040 Configuration
        ("The server would listen on an open network without TLS.", "Give `--cert` and `--key`, or listen on 127.0.0.1.")
        ("سيستمع الخادم على شبكة مفتوحة بلا TLS.", "أعطِ --cert و--key، أو استمع على 127.0.0.1.");
    MZ2041 Configuration
        ("The server cannot listen on this address.", "Choose another address with `--listen`.")
        ("لا يستطيع الخادم الاستماع على هذا العنوان.", "اختر عنوانًا آخر بـ --listen.");
    MZ2042 Configuration
        ("The TLS certificate or its key cannot be used.", "Give `--cert` a PEM file with the chain and `--key` one with its private key.")
        ("لا يمكن استعمال شهادة TLS أو مفتاحها.", "أعطِ --cert ملف PEM فيه السلسلة، و--key ملفًا فيه مفتاحها الخاص.");
    MZ2050 Internal
        ("The server cannot render the page.", "Tell the operator; the log of the server has the details.")
        ("تعذّر عرض الصفحة.", "أبلغ مشغّل الخادم؛ التفاصيل في سجل الخادم.");
    MZ2051 Internal
        ("The operating system provides no random numbers for the page.", "Tell the operator.")
        ("لا يوفّر نظام التشغيل أعدادًا عشوائية للصفحة.", "أبلغ مشغّل الخادم.");
}
