//! Noise, and audits of mechanisms.

super::codes! {
    MZ1501 Unsupported
        ("The event cannot be sampled, so it cannot be audited.", "Audit a mechanism that draws noise, such as `discrete-laplace(10)`.")
        ("لا يمكن السحب من هذا الحدث، فلا يمكن تدقيقه.", "دقّق آلية تضيف ضوضاء، مثل discrete-laplace(10).");
    MZ1502 Usage
        ("One run of the audit needs too many draws.", "Audit fewer rounds.")
        ("تحتاج كل تجربة من تجارب التدقيق إلى سحبات كثيرة جدًّا.", "دقّق جولات أقل.");
    MZ1503 Usage
        ("The event has too many different mechanisms to audit.", "Audit the mechanisms separately.")
        ("في الحدث آليات مختلفة كثيرة جدًّا، فلا يمكن تدقيقه.", "دقّق كل آلية على حدة.");
    MZ1504 Usage
        ("The number of audit runs is out of range.", "Choose a number within the range in the message.")
        ("عدد تجارب التدقيق خارج المدى المسموح.", "اختر عددًا ضمن المدى المذكور أدناه.");
    MZ1505 Usage
        ("The confidence of the audit is not between 0 and 1.", "Choose a confidence such as 0.999999.")
        ("مستوى الثقة في التدقيق ليس بين 0 و1.", "اختر مستوى ثقة مثل 0.999999.");
    MZ1506 Usage
        ("The size of the attack is out of range.", "Choose a size within the range in the message.")
        ("حجم الهجوم خارج المدى المسموح.", "اختر حجمًا ضمن المدى المذكور أدناه.");
    MZ1601 Internal
        ("The operating system provides no random numbers.", "Nothing was released; the operator checks getrandom(2) on the machine.")
        ("لا يوفّر نظام التشغيل أعدادًا عشوائية.", "لم يُصدَر شيء؛ يتحقق مشغّل الخادم من getrandom(2) على الجهاز.");
    MZ1602 Usage
        ("The noise scale is not a fraction of two 64-bit integers.", "Choose a scale from 0.0005 to 2^64 − 1.")
        ("مقياس الضوضاء ليس كسرًا من عددين صحيحين من 64 بتًّا.", "اختر مقياسًا بين 0.0005 و2^64 − 1.");
    MZ1603 Usage
        ("Epsilon is not above 0.", "Choose an epsilon such as 0.5 or 1.")
        ("قيمة ε ليست أكبر من 0.", "اختر ε مثل 0.5 أو 1.");
    MZ1604 Usage
        ("The sensitivity is out of range.", "Choose a sensitivity from 1 to 2^63, a coarser grid or tighter clamping.")
        ("الحساسية خارج المدى المسموح.", "اختر حساسية بين 1 و2^63، أو شبكة أخشن، أو حدود حصر أضيق.");
    MZ1605 Usage
        ("The mechanism got an empty list of values.", "Give at least one value.")
        ("أُعطيت الآلية قائمة قيم فارغة.", "أعطِ قيمة واحدة على الأقل.");
    MZ1606 Usage
        ("The number of values is not the number that the mechanism takes.", "Give as many values as the mechanism has.")
        ("عدد القيم لا يوافق العدد الذي تأخذه الآلية.", "أعطِ الآلية عدد القيم الذي تأخذه.");
    MZ1607 Usage
        ("The noise is wider than the integers that hold it.", "Use a larger epsilon, a smaller scale or a coarser grid.")
        ("الضوضاء أعرض من الأعداد الصحيحة التي تُخزَّن فيها.", "أنفق ε أكبر، أو اختر مقياسًا أصغر أو شبكة أخشن.");
    MZ1608 Usage
        ("A value is not a finite number.", "Replace NaN and infinities by a public default first.")
        ("إحدى القيم ليست عددًا منتهيًا.", "ضع أولًا مكان NaN واللانهايات قيمة افتراضية عامة.");
    MZ1609 Usage
        ("The grid of the mechanism is out of range.", "Choose a grid near the size of the noise, such as 2^-10.")
        ("شبكة الآلية خارج المدى المسموح.", "اختر شبكة قريبة من مقدار الضوضاء، مثل 2^-10.");
    MZ1610 Usage
        ("No partition-selection threshold satisfies this epsilon and delta.", "Use a larger epsilon or delta.")
        ("لا توجد عتبة لاختيار الفئات تحقق ε وδ المطلوبتين.", "اختر ε أو δ أكبر.");
    MZ1611 Usage
        ("An answer is not among the categories.", "Number the answers from 0 to categories − 1.")
        ("أحد الأجوبة ليس من الأجوبة الممكنة.", "رقّم الأجوبة من 0 إلى categories − 1.");
    MZ1612 Usage
        ("The confidence is not between 0 and 1.", "Choose a confidence such as 0.95.")
        ("مستوى الثقة ليس بين 0 و1.", "اختر مستوى ثقة مثل 0.95.");
    MZ1613 Internal
        ("The noise was prepared in another process.", "Nothing was released; please report this fault.")
        ("أُعدّت الضوضاء في عملية أخرى من عمليات النظام.", "لم يُصدَر شيء؛ أبلغ مطوّري ميزان بهذا الخلل.");
    MZ1621 Unsupported
        ("Mizan cannot draw from this event.", "Use a discrete mechanism such as `discrete-gaussian(SIGMA)`.")
        ("لا يستطيع ميزان السحب من هذا الحدث.", "استعمل آلية متقطعة مثل discrete-gaussian(SIGMA).");
    MZ1622 Usage
        ("The draws are too many for one JSON document.", "Write them to a file with `--out FILE`, or use the text format.")
        ("عدد السحبات أكبر من أن يُكتب في وثيقة JSON واحدة.", "اكتبها في ملف بـ --out FILE، أو استعمل الصيغة النصية.");
}
