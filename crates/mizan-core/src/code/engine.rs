//! Engines, their data, and answers.

super::codes! {
    MZ1901 Configuration
        ("The data cannot be read.", "The data owner checks that the file exists and is readable.")
        ("تعذّرت قراءة البيانات.", "أخبر المالك.");
    MZ1902 Configuration
        ("The data file is neither CSV nor Parquet.", "The data owner uses a .csv or .parquet file, or a directory of such files.")
        ("ملف البيانات ليس CSV ولا Parquet.", "أخبر المالك.");
    MZ1903 Configuration
        ("The directory has no CSV or Parquet files, or both kinds.", "The data owner puts files of one format into the directory.")
        ("لا ملفات CSV أو Parquet في المجلد، أو فيه النوعان.", "أخبر المالك.");
    MZ1904 Configuration
        ("The first line of the data file is not a valid header.", "The data owner gives each column a name of its own in the first line.")
        ("السطر الأول من ملف البيانات ليس سطر عناوين صحيحًا.", "أخبر المالك.");
    MZ1905 Configuration
        ("The Parquet file cannot be read.", "The data owner writes the file again, or restores a copy.")
        ("لا يمكن قراءة ملف Parquet.", "أخبر المالك.");
    MZ1906 Configuration
        ("A declared column is not in the data.", "The data owner restores the column, or adds the dataset again.")
        ("عمود معلن غير موجود في البيانات.", "أخبر المالك.");
    MZ1907 Configuration
        ("The type of a column cannot be read, or is not the declared type.", "The data owner restores the column, or adds the dataset again with its type.")
        ("نوع عمود في البيانات لا يُقرأ، أو ليس النوع المعلن.", "أخبر المالك.");
    MZ1908 Unavailable
        ("The data changed while the engine was reading them.", "Retry when the data are complete.")
        ("تغيّرت البيانات أثناء قراءتها.", "أعد السؤال عندما تكتمل البيانات.");
    MZ1909 Configuration
        ("The engine found a dataset that is not in the catalogue.", "The data owner adds the dataset with `mizan dataset add`.")
        ("مجموعة البيانات ليست في قائمة مجموعات البيانات.", "أخبر المالك.");
    MZ1910 Internal
        ("The engine cannot run the plan.", "Retry; if the error stays, report it to the developers.")
        ("لا يستطيع المحرك تنفيذ خطة السؤال.", "أعد السؤال، وأخبر من يشغّل الخادم إن بقي الخلل.");
    MZ1911 Internal
        ("The engine failed while running the query.", "Retry with the same id; if the error stays, tell the operator.")
        ("فشل المحرك أثناء حساب السؤال.", "أعد السؤال بالنموذج نفسه، وأخبر من يشغّل الخادم إن بقي الخلل.");
    MZ1912 Configuration
        ("The address of the table is not valid.", "The data owner writes `postgres://user@host/database/schema.table`.")
        ("عنوان الجدول غير صحيح.", "أخبر المالك.");
    MZ1913 Unavailable
        ("The data's database cannot be reached.", "Retry; if the error stays, the operator checks the address, the server and the password.")
        ("تعذّر الوصول إلى قاعدة البيانات.", "أعد المحاولة بعد قليل.");
    MZ1914 Configuration
        ("The table does not exist.", "The data owner checks database, schema and table.")
        ("الجدول غير موجود.", "أخبر المالك.");
    MZ1915 Configuration
        ("The source is not an ordinary table.", "The data owner names a table of the database itself.")
        ("المصدر ليس جدولًا عاديًا.", "أخبر المالك.");
    MZ1916 Configuration
        ("The engine may not read the table.", "The data owner grants USAGE on the schema and SELECT on the table.")
        ("ليس للمحرك إذن بقراءة الجدول.", "أخبر المالك.");
    MZ1917 Unavailable
        ("The table is locked by another transaction.", "Retry when that transaction is done.")
        ("الجدول مقفل بمعاملة أخرى.", "أعد السؤال عندما تنتهي تلك المعاملة.");
    MZ1918 Configuration
        ("The data's database server cannot be used.", "The data owner uses another server, or upgrades this one.")
        ("لا يمكن استعمال خادم قاعدة البيانات.", "أخبر المالك.");
    MZ1919 Configuration
        ("The data's database refused the statement.", "The data owner asks the administrator of the database.")
        ("رفضت قاعدة البيانات العبارة.", "أخبر من يدير قاعدة البيانات.");
    MZ1920 Unavailable
        ("The database statement timed out.", "Ask for less, or the data owner raises the timeout of the dataset.")
        ("انتهت مهلة العبارة في قاعدة البيانات.", "اطلب أقل، أو ليرفع المالك المهلة.");
    MZ1921 Unavailable
        ("The connection to the data's database was lost.", "Retry with the same id when the server is back.")
        ("انقطع الاتصال بقاعدة البيانات.", "أعد السؤال بالنموذج نفسه عندما تعود.");
    MZ1922 Unsupported
        ("This engine does not support the query.", "Write the query without the part that the message names.")
        ("لا يدعم هذا المحرك السؤال.", "اكتب السؤال من دون الجزء المذكور أدناه.");
    MZ1923 Configuration
        ("This build of Mizan has no such engine.", "Build Mizan with the feature that the message names.")
        ("بُني البرنامج من دون هذا المحرك.", "أخبر من يشغّل الخادم.");
    MZ1924 Configuration
        ("The address of the scheduler is not valid.", "Write HOST:PORT, such as 10.0.0.5:50050.")
        ("لا يمكن استعمال عنوان المجدول.", "أخبر من يشغّل الخادم.");
    MZ1925 Unavailable
        ("The scheduler of the cluster cannot be used.", "Retry; if the error stays, the operator starts a scheduler with `mizan cluster scheduler`.")
        ("لا يمكن استعمال المجدول.", "أعد المحاولة بعد قليل.");
    MZ1926 Configuration
        ("The scheduler runs another version of Mizan.", "The operator uses the same version on all nodes.")
        ("المجدول من نسخة أخرى.", "أخبر من يشغّل الخادم.");
    MZ1927 Unavailable
        ("The cluster has too few executors.", "The operator starts executors with `mizan cluster executor`.")
        ("عدد منفّذي العنقود أقل من اللازم.", "أعد المحاولة بعد قليل.");
    MZ1928 Configuration
        ("The cluster does not see the same files as this machine.", "The operator gives all nodes the same files under the same paths.")
        ("لا يرى العنقود الملفات كما يراها الخادم.", "أخبر من يشغّل الخادم.");
    MZ1929 Unavailable
        ("The cluster failed while running the query.", "Retry with the same id.")
        ("فشل العنقود أثناء حساب السؤال.", "أعد السؤال بالنموذج نفسه.");
    MZ1930 Unsupported
        ("The cluster cannot compute this query exactly as one machine does.", "Use `--engine embedded`, or ask a simpler query; nothing was charged.")
        ("لا يستطيع العنقود حساب هذا السؤال كما يحسبه جهاز واحد؛ لم يُخصم شيء.", "اسأل سؤالًا أبسط.");
    MZ1931 Configuration
        ("The node would listen on an open network without passwords and TLS.", "Listen on 127.0.0.1, or add `--trusted-network`.")
        ("ستستمع العقدة على شبكة مفتوحة بلا كلمات مرور ولا TLS.", "استمع على 127.0.0.1، أو أضف --trusted-network.");
    MZ1932 Configuration
        ("Other nodes cannot reach the node by this address.", "Name the host that others know with `--advertise`.")
        ("لا تصل العقد الأخرى إلى هذه العقدة بهذا العنوان.", "سمِّ المضيف الذي يعرفه الآخرون بـ --advertise.");
    MZ1933 Configuration
        ("The node cannot listen on this address.", "Choose another address or port with `--listen`.")
        ("لا تستطيع العقدة الاستماع على هذا العنوان.", "اختر عنوانًا أو منفذًا آخر بـ --listen.");
    MZ1934 Configuration
        ("The work directory of the node cannot be used.", "Name a writable directory with `--work-dir`.")
        ("لا يمكن استعمال مجلد عمل العقدة.", "سمِّ مجلدًا يُكتب فيه بـ --work-dir.");
    MZ1935 Configuration
        ("The node stopped.", "Start it again when the scheduler is there, with the same version.")
        ("توقفت العقدة.", "شغّلها من جديد عند وجود المجدول، وبالنسخة نفسها.");
    MZ1936 Configuration
        ("A page of the Parquet file is damaged.", "The data owner writes the file again, or restores a copy.")
        ("في ملف Parquet صفحة تالفة.", "أخبر المالك ليكتب الملف من جديد.");
    MZ1940 Unsupported
        ("The join with public tables multiplies private rows beyond the limit.", "Join on a unique key of the public table, or filter or aggregate it first; nothing was charged.")
        ("يضاعف ربط الجداول العامة كل صف خاص أكثر من المسموح، ولم يُخصم شيء.", "اربط بمفتاح فريد من الجدول العام، أو رشّحه أو جمّعه أولًا.");
    MZ1941 Unsupported
        ("The join of public tables has more rows than the limit.", "Join them on a key of one of them, or filter or aggregate them first; nothing was charged.")
        ("ربط الجداول العامة بعضها ببعض ينتج صفوفًا أكثر من المسموح، ولم يُخصم شيء.", "اربطها بمفتاح أحدها، أو رشّحها أو جمّعها أولًا.");
    MZ1950 Usage
        ("The query needs an epsilon above 0.", "Choose an epsilon such as 0.1 or 1.")
        ("تحتاج الإجابة إلى ε أكبر من 0.", "اختر ε أكبر من 0.");
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
        ("ليس للحساب δ محجوزة لاختيار الفئات التي تُكتشف في البيانات.", "اجعل الفئات بحسب عمود مفاتيحه معلنة.");
    MZ1955 Usage
        ("The noise of so small an epsilon is wider than 64-bit integers.", "Choose a larger epsilon, or tighter bounds.")
        ("ضوضاء ε بهذا الصغر أعرض من أعداد 64 بتًّا.", "أنفق ε أكبر، أو ضيّق الحدود.");
    MZ1956 Usage
        ("No noise satisfies this epsilon at this delta.", "Choose a larger epsilon.")
        ("لا ضوضاء تفي بهذه ε عند δ هذه.", "أنفق ε أكبر.");
    MZ1957 Internal
        ("The query plan contradicts itself.", "Nothing was released; please report this fault.")
        ("في خطة السؤال تناقض.", "لم يُصدَر شيء؛ أخبر من يشغّل الخادم.");
    MZ1958 Internal
        ("The engine returned a table of another shape than the plan's.", "Nothing was released; please report this fault.")
        ("أعاد المحرك جدولًا شكله غير شكل الخطة.", "لم يُصدَر شيء؛ أخبر من يشغّل الخادم.");
    MZ1959 Integrity
        ("The stored answer cannot be read.", "Run `mizan ledger verify`, or use the version of Mizan that stored it.")
        ("تعذّرت قراءة الإجابة المحفوظة.", "أخبر من يشغّل الخادم.");
    MZ1961 LimitExceeded
        ("The query exceeded its memory limit, or its worker was stopped.", "Ask for fewer groups, statistics or columns, or the data owner raises `--query-memory`.")
        ("تجاوز السؤال حدّ الذاكرة، أو أُوقفت العملية التي تحسبه.", "اسأل عن فئات أو إحصاءات أو أعمدة أقل، أو ليرفع المالك --query-memory.");
    MZ1962 LimitExceeded
        ("The query exceeded its time limit.", "Ask for less, or the data owner raises `--query-timeout`.")
        ("تجاوز السؤال حدّ الوقت.", "اسأل عن أقل، أو ليرفع المالك --query-timeout.");
    MZ1964 Unavailable
        ("The worker process of the query cannot be started.", "The operator checks that the program is still there and may start processes.")
        ("تعذّر بدء العملية التي تحسب السؤال.", "أخبر من يشغّل الخادم.");
    MZ1965 Unsupported
        ("The query may need more memory than its limit.", "Keep fewer and shorter texts, or ask for fewer columns, groups and statistics, or the data owner raises `--query-memory`; nothing was charged.")
        ("قد يحتاج السؤال إلى ذاكرة أكبر من حدّها، ولم يُخصم شيء.", "اطلب نصوصًا أقل وأقصر، أو أعمدة وفئات وإحصاءات أقل، أو ليرفع المالك --query-memory.");
    MZ1966 Unsupported
        ("The query may take longer than its time limit.", "Compute less for each row, or the data owner raises `--query-timeout`; nothing was charged.")
        ("قد يستغرق السؤال وقتًا أطول من حدّه، ولم يُخصم شيء.", "اطلب حسابات أقل لكل صف، أو ليرفع المالك --query-timeout.");
    MZ1990 Configuration
        ("The ledger has no account that pays for this dataset.", "The data owner creates it with `mizan budget create`, or names the right ledger.")
        ("ليس في الدفتر حساب يدفع عن مجموعة البيانات هذه.", "أخبر المالك.");
    MZ1991 Configuration
        ("The catalogue has no dataset for this query.", "List the datasets with `mizan dataset list`.")
        ("ليس في قائمة مجموعات البيانات ما يخص هذا السؤال.", "أخبر المالك.");
    MZ1992 Usage
        ("The account has no epsilon to take a default share of.", "State an epsilon or an accuracy.")
        ("ليس للحساب ε تُؤخذ منها نسبة افتراضية.", "اختر ε أو الدقة بنفسك.");
    MZ1994 Internal
        ("The operating system provides no random numbers for the answer.", "Nothing was released; the operator checks getrandom(2) on the machine.")
        ("لا يوفّر نظام التشغيل أعدادًا عشوائية للإجابة.", "لم يُصدَر شيء؛ أخبر من يشغّل الخادم.");
    MZ1995 Usage
        ("The column is not numeric, so it has no bounds to find.", "Name a column of numbers.")
        ("العمود ليس عدديًّا، فلا حدود له.", "اختر عمودًا من الأعداد.");
    MZ1996 Usage
        ("The private search found no bounds above the noise; the search was charged.", "Spend a larger epsilon, or the data owner declares bounds.")
        ("لم يجد البحث الخاص حدودًا فوق الضوضاء؛ وقد خُصمت كلفة البحث.", "أنفق ε أكبر، أو ليعلن المالك حدودًا.");
}
