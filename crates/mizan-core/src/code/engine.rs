//! Engines, their data, and answers.

super::codes! {
    MZ1901 Configuration
        ("The data cannot be read.", "The data owner checks that the file exists and is readable.")
        ("تعذّرت قراءة البيانات.", "يتحقق مالك البيانات من وجود الملف ومن إمكان قراءته.");
    MZ1902 Configuration
        ("The data file is neither CSV nor Parquet.", "The data owner uses a .csv or .parquet file, or a directory of such files.")
        ("ملف البيانات ليس CSV ولا Parquet.", "يستعمل مالك البيانات ملفًا ينتهي اسمه بـ .csv أو .parquet، أو مجلدًا فيه ملفات كهذه.");
    MZ1903 Configuration
        ("The directory has no CSV or Parquet files, or both kinds.", "The data owner puts files of one format into the directory.")
        ("لا ملفات CSV أو Parquet في المجلد، أو فيه النوعان معًا.", "يضع مالك البيانات في المجلد ملفات من صيغة واحدة.");
    MZ1904 Configuration
        ("The first line of the data file is not a valid header.", "The data owner gives each column a name of its own in the first line.")
        ("السطر الأول من ملف البيانات ليس سطر عناوين صحيحًا.", "يضع مالك البيانات في السطر الأول اسمًا مختلفًا لكل عمود.");
    MZ1905 Configuration
        ("The Parquet file cannot be read.", "The data owner writes the file again, or restores a copy.")
        ("تعذّرت قراءة ملف Parquet.", "يكتب مالك البيانات الملف من جديد، أو يستعيد نسخة منه.");
    MZ1906 Configuration
        ("A declared column is not in the data.", "The data owner restores the column, or adds the dataset again.")
        ("أحد الأعمدة المعلنة غير موجود في البيانات.", "يُرجع مالك البيانات العمود، أو يضيف مجموعة البيانات من جديد.");
    MZ1907 Configuration
        ("The type of a column cannot be read, or is not the declared type.", "The data owner restores the column, or adds the dataset again with its type.")
        ("نوع أحد الأعمدة لا يُقرأ، أو ليس النوع المعلن.", "يُرجع مالك البيانات العمود، أو يضيف مجموعة البيانات من جديد بالنوع الصحيح.");
    MZ1908 Unavailable
        ("The data changed while the engine was reading them.", "Retry when the data are complete.")
        ("تغيّرت البيانات أثناء قراءتها.", "أعد السؤال عندما تكتمل البيانات.");
    MZ1909 Configuration
        ("The engine found a dataset that is not in the catalogue.", "The data owner adds the dataset with `mizan dataset add`.")
        ("وجد المحرك مجموعة بيانات ليست في قائمة مجموعات البيانات.", "يضيفها مالك البيانات بالأمر mizan dataset add.");
    MZ1910 Internal
        ("The engine cannot run the plan.", "Retry; if the error stays, report it to the developers.")
        ("لا يستطيع المحرك تنفيذ خطة السؤال.", "أعد السؤال؛ فإن بقي الخلل فأبلغ مطوّري ميزان.");
    MZ1911 Internal
        ("The engine failed while running the query.", "Retry with the same id; if the error stays, tell the operator.")
        ("فشل المحرك أثناء حساب السؤال.", "أعد السؤال من الصفحة نفسها؛ فإن بقي الخلل فأبلغ مشغّل الخادم.");
    MZ1912 Configuration
        ("The address of the table is not valid.", "The data owner writes `postgres://user@host/database/schema.table`.")
        ("عنوان الجدول غير صحيح.", "يكتب مالك البيانات العنوان بالصيغة postgres://user@host/database/schema.table.");
    MZ1913 Unavailable
        ("The data's database cannot be reached.", "Retry; if the error stays, the operator checks the address, the server and the password.")
        ("تعذّر الوصول إلى قاعدة بيانات المصدر.", "أعد المحاولة؛ فإن بقي الخلل فليتحقق مشغّل الخادم من العنوان والخادم وكلمة المرور.");
    MZ1914 Configuration
        ("The table does not exist.", "The data owner checks database, schema and table.")
        ("الجدول غير موجود.", "يتحقق مالك البيانات من القاعدة والمخطط والجدول.");
    MZ1915 Configuration
        ("The source is not an ordinary table.", "The data owner names a table of the database itself.")
        ("المصدر ليس جدولًا عاديًّا.", "يسمّي مالك البيانات جدولًا من القاعدة نفسها.");
    MZ1916 Configuration
        ("The engine may not read the table.", "The data owner grants USAGE on the schema and SELECT on the table.")
        ("ليس للمحرك إذن بقراءة الجدول.", "يمنح مالك البيانات إذن USAGE على المخطط وإذن SELECT على الجدول.");
    MZ1917 Unavailable
        ("The table is locked by another transaction.", "Retry when that transaction is done.")
        ("الجدول مقفل بسبب معاملة أخرى.", "أعد السؤال عندما تنتهي تلك المعاملة.");
    MZ1918 Configuration
        ("The data's database server cannot be used.", "The data owner uses another server, or upgrades this one.")
        ("لا يمكن استعمال خادم قاعدة بيانات المصدر.", "يستعمل مالك البيانات خادمًا آخر، أو يرقّي هذا الخادم.");
    MZ1919 Configuration
        ("The data's database refused the statement.", "The data owner asks the administrator of the database.")
        ("رفضت قاعدة بيانات المصدر العبارة.", "يسأل مالك البيانات مدير قاعدة البيانات.");
    MZ1920 Unavailable
        ("The database statement timed out.", "Ask for less, or the data owner raises the timeout of the dataset.")
        ("انتهت مهلة العبارة في قاعدة البيانات.", "اطلب أقل، أو ليرفع مالك البيانات مهلة مجموعة البيانات.");
    MZ1921 Unavailable
        ("The connection to the data's database was lost.", "Retry with the same id when the server is back.")
        ("انقطع الاتصال بقاعدة بيانات المصدر.", "أعد السؤال من الصفحة نفسها بعد عودة الخادم.");
    MZ1922 Unsupported
        ("This engine does not support the query.", "Write the query without the part that the message names.")
        ("لا يدعم هذا المحرك هذا السؤال.", "اكتب السؤال من دون الجزء المذكور أدناه.");
    MZ1923 Configuration
        ("This build of Mizan has no such engine.", "Build Mizan with the feature that the message names.")
        ("ليس في هذه النسخة من ميزان هذا المحرك.", "ابنِ ميزان بالميزة المذكورة أدناه.");
    MZ1924 Configuration
        ("The address of the scheduler is not valid.", "Write HOST:PORT, such as 10.0.0.5:50050.")
        ("عنوان المُجدوِل غير صحيح.", "اكتب HOST:PORT، مثل 10.0.0.5:50050.");
    MZ1925 Unavailable
        ("The scheduler of the cluster cannot be used.", "Retry; if the error stays, the operator starts a scheduler with `mizan cluster scheduler`.")
        ("لا يمكن استعمال مُجدوِل العنقود.", "أعد المحاولة؛ فإن بقي الخلل فليبدأ مشغّل الخادم مُجدوِلًا بالأمر mizan cluster scheduler.");
    MZ1926 Configuration
        ("The scheduler runs another version of Mizan.", "The operator uses the same version on all nodes.")
        ("يعمل المُجدوِل بنسخة أخرى من ميزان.", "يستعمل مشغّل الخادم النسخة نفسها على كل العُقد.");
    MZ1927 Unavailable
        ("The cluster has too few executors.", "The operator starts executors with `mizan cluster executor`.")
        ("عدد منفّذي العنقود أقل من اللازم.", "يبدأ مشغّل الخادم منفّذين بالأمر mizan cluster executor.");
    MZ1928 Configuration
        ("The cluster does not see the same files as this machine.", "The operator gives all nodes the same files under the same paths.")
        ("لا يرى العنقود الملفات التي يراها هذا الجهاز.", "يتيح مشغّل الخادم لكل العُقد الملفات نفسها بالمسارات نفسها.");
    MZ1929 Unavailable
        ("The cluster failed while running the query.", "Retry with the same id.")
        ("فشل العنقود أثناء حساب السؤال.", "أعد السؤال من الصفحة نفسها.");
    MZ1930 Unsupported
        ("The cluster cannot compute this query exactly as one machine does.", "Use `--engine embedded`, or ask a simpler query; nothing was charged.")
        ("لا يستطيع العنقود حساب هذا السؤال بالدقة التي يحسبه بها جهاز واحد.", "استعمل --engine embedded، أو اسأل سؤالًا أبسط؛ لم يُخصم شيء.");
    MZ1931 Configuration
        ("The node would listen on an open network without passwords and TLS.", "Listen on 127.0.0.1, or add `--trusted-network`.")
        ("ستستمع العقدة على شبكة مفتوحة بلا كلمات مرور ولا TLS.", "استمع على 127.0.0.1، أو أضف --trusted-network.");
    MZ1932 Configuration
        ("Other nodes cannot reach the node by this address.", "Name the host that others know with `--advertise`.")
        ("لا تصل العُقد الأخرى إلى هذه العقدة بهذا العنوان.", "سمِّ المضيف الذي يعرفه الآخرون بـ --advertise.");
    MZ1933 Configuration
        ("The node cannot listen on this address.", "Choose another address or port with `--listen`.")
        ("لا تستطيع العقدة الاستماع على هذا العنوان.", "اختر عنوانًا أو منفذًا آخر بـ --listen.");
    MZ1934 Configuration
        ("The work directory of the node cannot be used.", "Name a writable directory with `--work-dir`.")
        ("لا يمكن استعمال مجلد عمل العقدة.", "سمِّ بالخيار --work-dir مجلدًا قابلًا للكتابة.");
    MZ1935 Configuration
        ("The node stopped.", "Start it again when the scheduler is there, with the same version.")
        ("توقفت العقدة.", "شغّلها من جديد عندما يعمل المُجدوِل، وبالنسخة نفسها.");
    MZ1936 Configuration
        ("A page of the Parquet file is damaged.", "The data owner writes the file again, or restores a copy.")
        ("في ملف Parquet صفحة تالفة.", "يكتب مالك البيانات الملف من جديد، أو يستعيد نسخة منه.");
    MZ1940 Unsupported
        ("The join with public tables multiplies private rows beyond the limit.", "Join on a unique key of the public table, or filter or aggregate it first; nothing was charged.")
        ("يضاعف الربط بالجداول العامة صفوف البيانات الخاصة أكثر من الحدّ المسموح.", "اربط بمفتاح فريد من الجدول العام، أو رشّحه أو جمّعه أولًا؛ لم يُخصم شيء.");
    MZ1941 Unsupported
        ("The join of public tables has more rows than the limit.", "Join them on a key of one of them, or filter or aggregate them first; nothing was charged.")
        ("ينتج ربط الجداول العامة بعضها ببعض صفوفًا أكثر من الحدّ المسموح.", "اربطها بمفتاح أحدها، أو رشّحها أو جمّعها أولًا؛ لم يُخصم شيء.");
    MZ1942 Unsupported
        ("Counting the rows of public tables exceeded its memory limit, or was stopped.", "Join on columns of the public tables instead of computed keys, or filter or aggregate them first; nothing was charged.")
        ("تجاوز عدّ صفوف الجداول العامة حدّ الذاكرة، أو أُوقف.", "اربط بأعمدة الجداول العامة لا بمفاتيح محسوبة، أو رشّحها أو جمّعها أولًا؛ لم يُخصم شيء.");
    MZ1943 Unsupported
        ("Counting the rows of public tables exceeded its time limit.", "Join on columns of the public tables instead of computed keys, or filter or aggregate them first; nothing was charged.")
        ("تجاوز عدّ صفوف الجداول العامة حدّ الوقت.", "اربط بأعمدة الجداول العامة لا بمفاتيح محسوبة، أو رشّحها أو جمّعها أولًا؛ لم يُخصم شيء.");
    MZ1950 Usage
        ("The query needs an epsilon above 0.", "Choose an epsilon such as 0.1 or 1.")
        ("يحتاج السؤال إلى ε أكبر من 0.", "اختر ε مثل 0.1 أو 1.");
    MZ1951 Usage
        ("The requested half width is not a number above 0.", "Choose a half width above 0, such as 50.")
        ("هامش الخطأ المطلوب ليس عددًا أكبر من 0.", "اختر هامش خطأ أكبر من 0، مثل 50.");
    MZ1952 Unsupported
        ("The accuracy of this aggregate depends on the data, so it cannot be a target.", "Choose an epsilon, or put a COUNT or a SUM first.")
        ("تعتمد دقة هذا التجميع على البيانات، فلا يمكن أن تكون هدفًا.", "اختر ε، أو ضع COUNT أو SUM أولًا.");
    MZ1953 Usage
        ("No epsilon reaches the requested accuracy.", "Choose a larger half width.")
        ("لا توجد ε تحقق الدقة المطلوبة.", "اختر هامش خطأ أكبر.");
    MZ1954 Unsupported
        ("The account has no reserved delta for partition selection.", "Group by a column with declared keys, or use an account with an epsilon and a delta.")
        ("ليس للحساب δ محجوزة لاختيار الفئات التي تُكتشف في البيانات.", "اجعل الفئات بحسب عمود فئاته معلنة، أو استعمل حسابًا له ε وδ.");
    MZ1955 Usage
        ("The noise of so small an epsilon is wider than 64-bit integers.", "Choose a larger epsilon, or tighter bounds.")
        ("الضوضاء عند ε بهذا الصغر أعرض من الأعداد الصحيحة ذات 64 بتًّا.", "اختر ε أكبر، أو حدودًا أضيق.");
    MZ1956 Usage
        ("No noise satisfies this epsilon at this delta.", "Choose a larger epsilon.")
        ("لا توجد ضوضاء تحقق ε هذه عند δ هذه.", "اختر ε أكبر.");
    MZ1957 Internal
        ("The query plan contradicts itself.", "Nothing was released; please report this fault.")
        ("في خطة السؤال تناقض.", "لم يُصدَر شيء؛ أبلغ مطوّري ميزان بهذا الخلل.");
    MZ1958 Internal
        ("The engine returned a table of another shape than the plan's.", "Nothing was released; please report this fault.")
        ("أعاد المحرك جدولًا شكله غير شكل الخطة.", "لم يُصدَر شيء؛ أبلغ مطوّري ميزان بهذا الخلل.");
    MZ1959 Integrity
        ("The stored answer cannot be read.", "Run `mizan ledger verify`, or use the version of Mizan that stored it.")
        ("تعذّرت قراءة الإجابة المحفوظة.", "شغّل mizan ledger verify، أو استعمل نسخة ميزان التي حفظت الإجابة.");
    MZ1961 LimitExceeded
        ("The worker process of the query ended without an answer: it exceeded its memory limit, crashed or was stopped.", "Ask for fewer groups, statistics or columns. The data owner can raise `--query-memory`, and check that nothing else stops processes of Mizan.")
        ("انتهت العملية التي تحسب السؤال بلا إجابة: تجاوزت حدّ الذاكرة، أو انهارت، أو أُوقفت.", "اسأل عن فئات أو إحصاءات أو أعمدة أقل. ولمالك البيانات أن يرفع --query-memory، وأن يتحقق من أن شيئًا آخر لا يوقف عمليات ميزان.");
    MZ1962 LimitExceeded
        ("The query exceeded its time limit.", "Ask for less, or the data owner raises `--query-timeout`.")
        ("تجاوز السؤال حدّ الوقت.", "اسأل عن أقل، أو ليرفع مالك البيانات --query-timeout.");
    MZ1964 Unavailable
        ("The worker process of the query cannot be started.", "The operator checks that the program is still there and may start processes.")
        ("تعذّر بدء العملية التي تحسب السؤال.", "يتحقق مشغّل الخادم من أن البرنامج موجود ومن أنه يستطيع بدء العمليات.");
    MZ1965 Unsupported
        ("The query may need more memory than its limit.", "Ask for fewer columns, groups or statistics, or for shorter texts. The data owner can raise `--query-memory`. Nothing was charged.")
        ("قد يحتاج السؤال إلى ذاكرة أكبر من حدّها.", "اطلب أعمدة أو فئات أو إحصاءات أقل، أو نصوصًا أقصر. ولمالك البيانات أن يرفع --query-memory. لم يُخصم شيء.");
    MZ1966 Unsupported
        ("The query may take longer than its time limit.", "Compute less for each row, or the data owner raises `--query-timeout`; nothing was charged.")
        ("قد يستغرق السؤال وقتًا أطول من حدّه.", "اطلب حسابات أقل لكل صف، أو ليرفع مالك البيانات --query-timeout؛ لم يُخصم شيء.");
    MZ1990 Configuration
        ("The ledger has no account that pays for this dataset.", "The data owner creates it with `mizan budget create`, or names the right ledger.")
        ("ليس في الدفتر حساب تُخصم منه كلفة مجموعة البيانات هذه.", "ينشئه مالك البيانات بالأمر mizan budget create، أو يسمّي الدفتر الصحيح.");
    MZ1991 Configuration
        ("The catalogue has no dataset for this query.", "List the datasets with `mizan dataset list`.")
        ("ليس في قائمة مجموعات البيانات مجموعة لهذا السؤال.", "اعرض مجموعات البيانات بالأمر mizan dataset list.");
    MZ1992 Usage
        ("The account has no epsilon to take a default share of.", "State an epsilon or an accuracy.")
        ("ليس للحساب ε تُؤخذ منها النسبة الافتراضية.", "حدّد ε أو الدقة المطلوبة.");
    MZ1995 Usage
        ("The column is not numeric, so it has no bounds to find.", "Name a column of numbers.")
        ("العمود ليس عدديًّا، فلا حدود له يُبحث عنها.", "سمِّ عمودًا من الأعداد.");
    MZ1996 Usage
        ("The private search found no bounds above the noise; the search was charged.", "Spend a larger epsilon, or the data owner declares bounds.")
        ("لم يجد البحث المحمي بالخصوصية حدودًا تعلو على الضوضاء؛ وقد خُصمت كلفة البحث.", "أنفق ε أكبر، أو ليعلن مالك البيانات الحدود.");
    MZ1997 Conflict
        ("The charge of this id was settled without an answer.", "Ask again without an id or key, or with a new one: that is a new charge.")
        ("سُوّيت عملية الخصم بهذا المعرّف بلا إجابة.", "اسأل من جديد بلا معرّف أو بمعرّف جديد: وهذه عملية خصم جديدة.");
    MZ1998 Internal
        ("The release failed after the charge, which is spent and has no answer.", "Tell the operator. Asking the same again returns this error at no cost; an id of its own is a new charge.")
        ("فشل إصدار الإجابة بعد خصم كلفتها؛ فقد أُنفقت الكلفة بلا إجابة.", "أبلغ مشغّل الخادم. وإعادة السؤال نفسه تعرض هذا الخطأ بلا كلفة؛ أما السؤال بمعرّف جديد فعملية خصم جديدة.");
}
