//! SQL queries and the catalogue.

super::codes! {
    MZ1801 Usage
        ("The query is too long.", "Shorten the query.")
        ("السؤال طويل جدًّا.", "اختصر السؤال.");
    MZ1802 Usage
        ("The SQL text has a syntax error at the mark.", "Correct the text under the mark.")
        ("في نص SQL خطأ نحوي عند العلامة.", "صحّح النص عند العلامة.");
    MZ1803 Usage
        ("Mizan answers SELECT statements only.", "Write SELECT with COUNT, SUM or AVG.")
        ("لا يجيب ميزان إلا عن عبارات SELECT.", "اكتب SELECT مع COUNT أو SUM أو AVG.");
    MZ1804 Usage
        ("The text is not exactly one statement.", "Write one SELECT statement.")
        ("النص ليس عبارة واحدة بالضبط.", "اكتب عبارة SELECT واحدة.");
    MZ1805 Usage
        ("The query is too complex.", "Use less nesting and fewer repetitions.")
        ("السؤال معقد جدًّا.", "قلّل التداخل والتكرار.");
    MZ1806 Usage
        ("Parameters such as $1 have no value here.", "Write the value itself.")
        ("المعاملات مثل $1 لا قيمة لها هنا.", "اكتب القيمة نفسها.");
    MZ1807 Unsupported
        ("The clause is not supported.", "Write the query without it.")
        ("هذا البند من لغة SQL غير مدعوم.", "اكتب السؤال من دونه.");
    MZ1808 Usage
        ("There is no dataset of this name.", "Use a dataset of the catalogue.")
        ("لا توجد مجموعة بيانات بهذا الاسم.", "استعمل مجموعة بيانات من قائمة مجموعات البيانات.");
    MZ1809 Usage
        ("There is no column of this name, or there are several.", "Use a column of the dataset, with the name of its table.")
        ("لا يوجد عمود بهذا الاسم، أو يوجد أكثر من عمود.", "استعمل عمودًا من مجموعة البيانات، مع اسم جدوله.");
    MZ1810 Unsupported
        ("There is no function of this name.", "Use another function.")
        ("لا توجد دالة بهذا الاسم.", "استعمل دالة أخرى.");
    MZ1811 Refused
        ("Functions of time, chance or the session are refused.", "Write a constant value.")
        ("لا تُقبل الدوال التي تتعلق بالوقت أو العشوائية أو الجلسة.", "اكتب قيمة ثابتة.");
    MZ1812 Usage
        ("The function or operator is not used in this form.", "Write it in the form that the message shows.")
        ("لا تُستعمل الدالة أو العملية بهذه الصورة.", "اكتبها بالصورة المذكورة أدناه.");
    MZ1813 Usage
        ("The types do not match.", "Convert one side with CAST.")
        ("الأنواع غير متوافقة.", "حوّل أحد الطرفين بـ CAST.");
    MZ1814 Refused
        ("A subquery inside an expression is refused.", "Move the subquery to FROM or WITH.")
        ("لا يُقبل سؤال فرعي داخل تعبير.", "انقله إلى FROM أو WITH.");
    MZ1815 Refused
        ("Window functions are refused.", "Use GROUP BY.")
        ("لا تُقبل دوال النوافذ.", "استعمل GROUP BY.");
    MZ1816 Unsupported
        ("GROUPING SETS, CUBE and ROLLUP are not supported.", "Ask for each grouping in a query of its own.")
        ("الصيغ GROUPING SETS وCUBE وROLLUP غير مدعومة.", "اطلب كل تقسيم إلى فئات في سؤال مستقل.");
    MZ1817 Refused
        ("EXCEPT and INTERSECT are refused.", "Use WHERE or UNION ALL.")
        ("لا تُقبل EXCEPT وINTERSECT.", "استعمل WHERE أو UNION ALL.");
    MZ1818 Unsupported
        ("WITH RECURSIVE is not supported.", "Write the query without it.")
        ("الصيغة WITH RECURSIVE غير مدعومة.", "اكتب السؤال من دونها.");
    MZ1819 Refused
        ("The query would show rows of single people.", "Ask for COUNT, SUM or AVG instead of rows.")
        ("هذا السؤال يعرض صفوفًا تخص أفرادًا بعينهم.", "اسأل عن COUNT أو SUM أو AVG بدلًا من الصفوف.");
    MZ1820 Usage
        ("The query reads no private dataset.", "Ask about a dataset with a privacy unit.")
        ("لا يقرأ السؤال أي مجموعة بيانات خاصة.", "اسأل عن مجموعة بيانات لها وحدة خصوصية.");
    MZ1821 Refused
        ("Private tables can be joined on the privacy unit only.", "Join the tables on the unit column.")
        ("لا تُربط الجداول الخاصة إلا على وحدة الخصوصية.", "اربط الجداول على عمود وحدة الخصوصية.");
    MZ1822 Refused
        ("The join keeps rows that belong to no privacy unit.", "Use an inner join.")
        ("يُبقي هذا الربط صفوفًا لا تخص أي شخص.", "استعمل ربطًا داخليًّا.");
    MZ1823 Refused
        ("The inner GROUP BY mixes rows of different privacy units.", "Add the unit column to the inner GROUP BY.")
        ("تخلط GROUP BY الداخلية صفوف أشخاص مختلفين.", "أضف عمود وحدة الخصوصية إلى GROUP BY الداخلية.");
    MZ1824 Refused
        ("The inner DISTINCT mixes rows of different privacy units.", "Add the unit column to the inner DISTINCT.")
        ("تخلط DISTINCT الداخلية صفوف أشخاص مختلفين.", "أضف عمود وحدة الخصوصية إلى DISTINCT الداخلية.");
    MZ1825 Refused
        ("LIMIT or ORDER BY before the aggregation is refused.", "Put it at the end of the query.")
        ("لا تُقبل LIMIT أو ORDER BY قبل التجميع.", "ضع البند في آخر السؤال.");
    MZ1826 Usage
        ("The column has no declared bounds.", "The data owner declares bounds, or the analyst writes them in the query as the message shows.")
        ("ليست للعمود حدود معلنة.", "يعلن مالك البيانات الحدود، أو يكتبها المحلل في السؤال بالصورة المذكورة أدناه.");
    MZ1827 Usage
        ("The dataset has no limit of rows per privacy unit.", "The data owner sets one with `--max-rows-per-unit`.")
        ("ليس لمجموعة البيانات حدّ لعدد الصفوف لكل شخص.", "يحدّده مالك البيانات بالخيار --max-rows-per-unit.");
    MZ1828 Usage
        ("The dataset has no limit of groups per privacy unit.", "The data owner sets one with `--max-groups-per-unit`.")
        ("ليس لمجموعة البيانات حدّ لعدد الفئات لكل شخص.", "يحدّده مالك البيانات بالخيار --max-groups-per-unit.");
    MZ1829 Usage
        ("The contribution bounds are too wide.", "Narrow the bounds or the limits.")
        ("حدود المساهمة واسعة جدًّا.", "ضيّق حدود القيم أو حدود المساهمة.");
    MZ1830 Refused
        ("The datasets of the query are charged to different accounts.", "Ask about each dataset in a query of its own.")
        ("تُخصم كلفة مجموعات البيانات في هذا السؤال من حسابات مختلفة.", "اسأل عن كل مجموعة بيانات في سؤال مستقل.");
    MZ1831 Configuration
        ("The catalogue contradicts itself.", "The data owner corrects the catalogue.")
        ("في قائمة مجموعات البيانات تناقض.", "يصحّح مالك البيانات القائمة.");
    MZ1832 Refused
        ("Each group would be a single privacy unit.", "Group by another column.")
        ("ستقتصر كل فئة على شخص واحد.", "اجعل الفئات بحسب عمود آخر.");
    MZ1833 Usage
        ("The two parts of the UNION do not match.", "Give both parts the same number and types of columns.")
        ("جزءا UNION غير متوافقين.", "اجعل لهما العدد نفسه من الأعمدة والأنواع نفسها.");
    MZ1834 Unsupported
        ("The aggregate is not supported.", "Use COUNT, SUM, AVG, MEDIAN, MIN or MAX.")
        ("هذا التجميع غير مدعوم.", "استعمل COUNT أو SUM أو AVG أو MEDIAN أو MIN أو MAX.");
    MZ1835 Unsupported
        ("This operation cannot follow the private aggregation.", "Write the query without it.")
        ("لا يمكن أن تلي هذه العملية التجميع المحمي بالخصوصية التفاضلية.", "اكتب السؤال من دونها.");
    MZ1836 Usage
        ("Two columns have the same name.", "Rename one of them with AS.")
        ("عمودان بالاسم نفسه.", "سمِّ أحدهما باسم آخر بـ AS.");
    MZ1837 Usage
        ("A literal is not valid.", "Correct the literal.")
        ("في السؤال قيمة ثابتة غير صحيحة.", "صحّح القيمة الثابتة.");
    MZ1838 Unsupported
        ("The planner does not understand the query.", "Write the query in a simpler form.")
        ("لا يفهم مخطِّط الأسئلة هذا السؤال.", "اكتبه بصورة أبسط.");
    MZ1839 Internal
        ("Mizan has a fault in its planner.", "Please report the query to the developers.")
        ("ثمة خلل في مخطِّط الأسئلة.", "أرسل السؤال إلى مطوّري ميزان.");
    MZ1840 Unsupported
        ("Computed texts could become longer than the limit per row.", "Concatenate fewer or shorter texts.")
        ("قد يطول النص المحسوب لكل صف أكثر من الحدّ المسموح.", "ادمج نصوصًا أقل أو أقصر.");
    MZ1860 Configuration
        ("The catalogue cannot be read.", "The data owner corrects the catalogue file, or names another with `--catalogue`.")
        ("تعذّرت قراءة قائمة مجموعات البيانات.", "يصحّح مالك البيانات ملف القائمة، أو يسمّي ملفًا آخر بـ --catalogue.");
    MZ1861 Configuration
        ("The catalogue has an unknown entry.", "The data owner removes the entry, or uses a newer version of Mizan.")
        ("في قائمة مجموعات البيانات مدخل مجهول.", "يحذف مالك البيانات المدخل، أو يستعمل نسخة أحدث من ميزان.");
    MZ1862 Configuration
        ("The catalogue has another format version.", "Use the version of Mizan that wrote the catalogue.")
        ("صيغة قائمة مجموعات البيانات من نسخة أخرى.", "استعمل نسخة ميزان التي كتبت القائمة.");
    MZ1863 Configuration
        ("The text cannot be a name in the catalogue.", "Choose another name.")
        ("لا يصلح هذا اسمًا في قائمة مجموعات البيانات.", "اختر اسمًا آخر.");
    MZ1864 Configuration
        ("The source of the dataset cannot be used.", "Name a CSV or Parquet file, a directory of such files, or a table.")
        ("لا يمكن استعمال مصدر مجموعة البيانات.", "سمِّ ملف CSV أو Parquet، أو مجلدًا فيه ملفات كهذه، أو جدولًا.");
    MZ1865 Configuration
        ("The catalogue already has a dataset of this name.", "Choose another name.")
        ("في قائمة مجموعات البيانات مجموعة بهذا الاسم من قبل.", "اختر اسمًا آخر.");
    MZ1866 NotFound
        ("The catalogue has no dataset of this name.", "List the datasets with `mizan dataset list`.")
        ("ليس في قائمة مجموعات البيانات مجموعة بهذا الاسم.", "اعرض مجموعات البيانات بالأمر mizan dataset list.");
    MZ1867 Usage
        ("The dataset has two columns of the same name.", "Rename one of the columns.")
        ("في مجموعة البيانات عمودان بالاسم نفسه.", "غيّر اسم أحد العمودين.");
    MZ1868 Usage
        ("The dataset has no such column.", "Use a column of the dataset.")
        ("لا يوجد هذا العمود في مجموعة البيانات.", "استعمل عمودًا من مجموعة البيانات.");
    MZ1869 Usage
        ("The number of columns is out of range.", "Declare a number of columns within the range in the message.")
        ("عدد أعمدة مجموعة البيانات خارج المدى المسموح.", "أعلن عددًا من الأعمدة ضمن المدى المذكور أدناه.");
    MZ1870 Usage
        ("The unit column of the dataset is not valid.", "Name a column of text or integers as the privacy unit.")
        ("عمود وحدة الخصوصية غير صالح.", "اجعل وحدة الخصوصية عمودًا من نصوص أو أعداد صحيحة.");
    MZ1871 Usage
        ("A declared limit is out of range.", "Choose a limit within the range in the message.")
        ("أحد الحدود المعلنة خارج المدى المسموح.", "اختر حدًّا ضمن المدى المذكور أدناه.");
    MZ1872 Usage
        ("The bounds of the column are not valid.", "Declare a lower bound that is not above the upper bound, of the type of the column.")
        ("حدود العمود غير صالحة.", "أعلن حدًّا أدنى لا يزيد على الحدّ الأعلى، وكلاهما من نوع العمود.");
    MZ1873 Usage
        ("The public keys of the column are not valid.", "Declare different keys of the type of the column.")
        ("الفئات المعلنة للعمود غير صالحة.", "أعلن فئات مختلفة من نوع العمود.");
    MZ1874 Usage
        ("The argument does not have the expected form.", "Write the argument in the form that the message shows.")
        ("ليس الوسيط بالصورة المطلوبة.", "اكتبه بالصورة المذكورة أدناه.");
    MZ1875 Usage
        ("There is no type of this name.", "Use a type that the message lists.")
        ("لا يوجد نوع بهذا الاسم.", "استعمل نوعًا من الأنواع المذكورة أدناه.");
    MZ1876 Conflict
        ("Some of these rows are already in the catalogue under another budget.", "Use the account of the other dataset.")
        ("بعض هذه الصفوف مدرج من قبل في قائمة مجموعات البيانات بميزانية أخرى.", "استعمل حساب مجموعة البيانات الأخرى.");
    MZ1880 Usage
        ("There is no such column.", "Use a column of the dataset.")
        ("لا يوجد هذا العمود.", "استعمل عمودًا من مجموعة البيانات.");
    MZ1881 Usage
        ("The function has the wrong number of arguments.", "Give the number of arguments in the message.")
        ("عدد وسائط الدالة غير صحيح.", "أعطِ العدد المذكور أدناه من الوسائط.");
    MZ1882 Usage
        ("An argument of the function has the wrong type.", "Convert the argument with CAST.")
        ("نوع أحد وسائط الدالة غير صحيح.", "حوّل الوسيط بـ CAST.");
    MZ1883 Usage
        ("The function needs values of one type.", "Convert all values to one type with CAST.")
        ("تحتاج الدالة إلى قيم من نوع واحد.", "حوّل القيم كلها إلى نوع واحد بـ CAST.");
    MZ1884 Usage
        ("The argument must be a constant.", "Write the value itself.")
        ("يجب أن يكون هذا الوسيط قيمة ثابتة.", "اكتب القيمة نفسها.");
    MZ1885 Usage
        ("The value of the constant is not valid.", "Write the value in the form that the message shows.")
        ("قيمة هذا الثابت غير صالحة.", "اكتب القيمة بالصورة المذكورة أدناه.");
    MZ1886 Usage
        ("Not all engines know this constant.", "Write a finite number, or a date between the years 1 and 9999.")
        ("لا تعرف كل المحركات هذا الثابت.", "اكتب عددًا منتهيًا أو تاريخًا بين السنتين 1 و9999.");
    MZ1887 Usage
        ("There is no conversion between the two types.", "Leave the CAST out, or convert to another type first.")
        ("لا يوجد تحويل بين هذين النوعين.", "احذف CAST، أو حوّل إلى نوع آخر أولًا.");
}
