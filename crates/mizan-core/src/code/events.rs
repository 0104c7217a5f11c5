//! Privacy events as text or JSON.

super::codes! {
    MZ1101 Usage
        ("The privacy event is empty.", "Write an event such as `gaussian(1.1)`.")
        ("حدث الخصوصية فارغ.", "اكتب حدثًا مثل gaussian(1.1).");
    MZ1102 Usage
        ("The event text has a syntax error at the mark.", "Write an event as `NAME(arguments)`; `+` composes two events and `COUNT * event` repeats one.")
        ("في نص الحدث خطأ عند العلامة.", "يُكتب الحدث هكذا: NAME(arguments)؛ والعلامة + تركّب حدثين، والصيغة COUNT * event تكرر حدثًا.");
    MZ1103 Usage
        ("There is no event of this name.", "Use the name that the message suggests.")
        ("لا يوجد حدث بهذا الاسم.", "استعمل الاسم المقترح أدناه.");
    MZ1104 Usage
        ("The event has no parameter of this name.", "Use the parameters that the message lists.")
        ("ليس لهذا الحدث معامل بهذا الاسم.", "استعمل المعاملات المذكورة أدناه.");
    MZ1105 Usage
        ("A parameter is given twice.", "Keep one of the two values.")
        ("أُعطي المعامل مرتين.", "أبقِ واحدًا منهما.");
    MZ1106 Usage
        ("A parameter is missing.", "Add the parameter that the message names.")
        ("ينقص معامل.", "أضف المعامل المذكور.");
    MZ1107 Usage
        ("The event has too many arguments.", "Remove the extra arguments.")
        ("عدد وسائط الحدث أكثر من المطلوب.", "احذف الزائد منها.");
    MZ1108 Usage
        ("An argument without a name follows a named argument.", "Name all arguments, or put the unnamed ones first.")
        ("لا يأتي وسيط بلا اسم بعد وسيط له اسم.", "سمِّ الوسائط كلها أو قدّم ما لا اسم له.");
    MZ1109 Usage
        ("The parameter is not a number.", "Write a decimal number such as 2, 0.5 or 1e-6.")
        ("المعامل ليس عددًا.", "اكتبه عددًا عشريًا مثل 2 أو 0.5 أو 1e-6.");
    MZ1110 Usage
        ("The value of a parameter is out of range.", "Choose a value within the range in the message.")
        ("قيمة المعامل خارج المدى المسموح.", "اختر قيمة ضمن المدى المذكور.");
    MZ1111 Usage
        ("A parameter has too many digits.", "Write at most 17 significant digits.")
        ("في المعامل خانات كثيرة جدًا.", "تكفي 17 خانة؛ احذف الباقي.");
    MZ1112 Usage
        ("The placeholder `?` is only valid for calibration.", "Replace `?` by a number, or use `mizan calibrate`.")
        ("علامة ? تمثل معاملًا يُحسب، وهذا للمعايرة وحدها.", "ضع عددًا مكانها، أو استعمل mizan calibrate.");
    MZ1113 Usage
        ("The event text is too long.", "Write repeated events as `COUNT * event`.")
        ("نص الحدث طويل جدًا.", "اكتب الأحداث المكررة هكذا: COUNT * event.");
    MZ1114 Usage
        ("The event is nested too deeply.", "Remove parentheses that are not needed.")
        ("الأحداث متداخلة بعمق كبير.", "احذف الأقواس التي لا حاجة إليها.");
    MZ1115 Usage
        ("The event has too many parts.", "Write equal events once, with their count.")
        ("عدد الأحداث كبير جدًا.", "اجمع الأحداث المتساوية في واحد مع عددها.");
    MZ1116 Usage
        ("The text is not valid JSON.", "Correct the JSON, or write the event as text such as `gaussian(1.1)`.")
        ("النص ليس JSON صحيحًا.", "صحّحه، أو اكتب الحدث نصًّا مثل gaussian(1.1).");
    MZ1117 Usage
        ("A JSON value has the wrong type.", "Put the value that the message asks for here.")
        ("نوع قيمة JSON غير صحيح.", "ضع القيمة المطلوبة المذكورة أدناه.");
    MZ1118 Usage
        ("The event has no placeholder `?` to solve for.", "Write `?` in place of the parameter to solve for.")
        ("ليست في الحدث علامة ? يُحسب مكانها شيء.", "ضع ? مكان المعامل المطلوب.");
    MZ1119 Usage
        ("The event has more than one placeholder `?`.", "Keep one `?`: calibration solves for one number.")
        ("في الحدث أكثر من علامة ? واحدة.", "أبقِ علامة واحدة: لا يُحسب إلا عدد واحد.");
    MZ1120 Usage
        ("Calibration cannot solve for this parameter.", "Put `?` in place of another parameter.")
        ("لا تحسب المعايرة هذا المعامل.", "ضع ? مكان معامل آخر.");
    MZ1121 Usage
        ("The probability p of randomized response is below chance.", "Choose p above 1 divided by the number of answers.")
        ("في الاستجابة العشوائية p أقل من احتمال الاختيار العشوائي.", "اختر p أكبر من 1 على عدد الأجوبة.");
    MZ1122 Usage
        ("Randomized response with p = 1 is always truthful and gives no privacy.", "Choose p below 1.")
        ("عندما p = 1 يكون الجواب صادقًا دائمًا، فلا خصوصية.", "اختر p أصغر من 1.");
    MZ1123 Usage
        ("Randomized response needs at least two possible answers.", "Set `categories` to 2 or more.")
        ("تحتاج الاستجابة العشوائية إلى جوابين ممكنين على الأقل.", "اجعل categories مساويًا 2 أو أكثر.");
    MZ1124 Usage
        ("The sensitivity of discrete noise is below 1.", "Use `gaussian` or `laplace` for values that are not integers.")
        ("حساسية الضوضاء المتقطعة أقل من 1.", "استعمل gaussian أو laplace لغير الأعداد الصحيحة.");
    MZ1125 Usage
        ("The sensitivity of discrete noise is not an integer.", "Round the sensitivity up, or use `laplace` for values that are not integers.")
        ("حساسية الضوضاء المتقطعة ليست عددًا صحيحًا.", "قرّبها إلى الأعلى، أو استعمل laplace لغير الأعداد الصحيحة.");
    MZ1126 Usage
        ("The sample is larger than the population.", "Write `without-replacement(n, m, event)` with m ≤ n.")
        ("العينة أكبر من المجتمع الذي تؤخذ منه.", "اكتب without-replacement(n, m, event) حيث m ≤ n.");
    MZ1127 Usage
        ("The Rényi guarantee has no order.", "Write `rdp(order, epsilon)` or `rdp(2:0.1, 4:0.2)`.")
        ("ليست لضمان ريني أي رتبة.", "اكتب rdp(order, epsilon) أو rdp(2:0.1, 4:0.2).");
    MZ1128 Usage
        ("A Rényi order is given twice.", "Keep one bound per order.")
        ("أُعطيت رتبة ريني مرتين.", "أبقِ حدًا واحدًا لكل رتبة.");
    MZ1129 Usage
        ("The epsilon of a Rényi order is not finite.", "Remove the orders without a finite bound.")
        ("قيمة ε عند إحدى رتب ريني غير منتهية.", "احذف الرتب التي لا حد منتهيًا لها.");
    MZ1130 Usage
        ("A guarantee with delta = 1 promises nothing.", "Choose a delta below 1.")
        ("الضمان الذي فيه δ = 1 لا يضمن شيئًا.", "اختر δ أصغر من 1.");
    MZ1131 Usage
        ("Poisson sampling with q = 0 samples no person.", "Choose q above 0.")
        ("عندما q = 0 لا تشمل عينة بواسون أي شخص.", "اختر q أكبر من 0.");
    MZ1132 Usage
        ("The finite mechanism has no outcome.", "Add at least one outcome with its two probabilities.")
        ("ليست للآلية المنتهية أي نتيجة.", "أضف نتيجة واحدة على الأقل مع احتماليها.");
    MZ1133 Usage
        ("The finite mechanism has too many outcomes.", "Merge the outcomes with equal privacy loss.")
        ("نتائج الآلية المنتهية كثيرة جدًا.", "ادمج النتائج المتساوية في خسارة الخصوصية.");
    MZ1134 Usage
        ("The probabilities do not add up to 1.", "Correct the probabilities so that their sum is 1.")
        ("مجموع الاحتمالات ليس 1.", "صحّح الاحتمالات ليصير مجموعها 1.");
    MZ1135 Usage
        ("The losses imply a total probability above 1 on the neighbouring dataset.", "Correct the losses or the probabilities.")
        ("تعطي الخسائر مجموع احتمالات أكبر من 1 على مجموعة البيانات المجاورة.", "صحّح الخسائر أو الاحتمالات.");
    MZ1136 Usage
        ("A privacy loss is not finite.", "Write a finite number.")
        ("إحدى خسائر الخصوصية غير منتهية.", "اكتب عددًا منتهيًا.");
    MZ1137 Usage
        ("The two columns have different lengths.", "Give each outcome a value in both columns.")
        ("طولا العمودين مختلفان.", "أعطِ كل نتيجة قيمة في كل عمود.");
    MZ1138 Usage
        ("The name is a word of the event language.", "Choose another name for the definition.")
        ("هذا الاسم من كلمات لغة الأحداث.", "اختر اسمًا آخر للتعريف.");
    MZ1139 Usage
        ("The name cannot be used for an event.", "Use lower-case Latin letters, digits and hyphens.")
        ("لا يصلح هذا اسمًا لحدث.", "اختر حروفًا لاتينية صغيرة وأرقامًا وشرطات.");
    MZ1140 Usage
        ("The name is defined twice.", "Keep one definition.")
        ("عُرّف الاسم مرتين.", "أبقِ تعريفًا واحدًا.");
}
