//! Codes of numbers that users type.

super::codes! {
    MZ1001 Usage
        ("The value is not a number.", "Write a decimal number such as 0.5 or 1e-6.")
        ("القيمة ليست عددًا.", "اكتب عددًا عشريًّا مثل 0.5 أو 1e-6.");
    MZ1002 Usage
        ("The number is out of range.", "Choose a number within the range in the message.")
        ("العدد خارج المدى المسموح.", "اختر عددًا ضمن المدى المذكور أدناه.");
    MZ1003 Usage
        ("The number is too large to be represented exactly.", "Choose a smaller number.")
        ("العدد أكبر من أن يُمثَّل بدقة.", "اختر عددًا أصغر.");
    MZ1004 Usage
        ("Delta is out of range.", "Choose a delta above 0 and below 1, far below 1/(number of people), such as 1e-6.")
        ("قيمة δ خارج المدى المسموح.", "اختر δ بين 0 و1، أصغر بكثير من مقلوب عدد الأشخاص، مثل 1e-6.");
    MZ1005 Usage
        ("The value is not a whole number within the range.", "Write a whole number such as 1000 or 1e6.")
        ("القيمة ليست عددًا صحيحًا ضمن المدى المسموح.", "اكتب عددًا صحيحًا مثل 1000 أو 1e6.");
    MZ1006 Usage
        ("The baseline probability is not between 0 and 1.", "Give the probability without the person's data, such as 0.001.")
        ("الاحتمال الأساسي (من دون بياناتك) ليس بين 0 و1.", "اكتب الاحتمال من دون بيانات الشخص، مثل 0.001.");
    MZ1007 Usage
        ("The odds factor is not above 0.", "Give a factor above 0; a factor of 2 means that the odds double.")
        ("معامل الأرجحية ليس أكبر من 0.", "أعطِ معاملًا أكبر من 0؛ فالمعامل 2 يعني أن الأرجحية تتضاعف.");
    MZ1008 Usage
        ("The request asks for too many Rényi orders at once.", "Ask for fewer orders per request.")
        ("في الطلب رتب كثيرة جدًّا من رتب ريني.", "اطلب رتبًا أقل في كل طلب.");
    MZ1011 Usage
        ("The text is not a decimal number.", "Write the number as 2, 0.5 or 1e-6.")
        ("هذا ليس عددًا عشريًّا.", "اكتب العدد مثل 2 أو 0.5 أو 1e-6.");
    MZ1012 Usage
        ("The decimal number is too large.", "Choose a smaller number.")
        ("العدد العشري كبير جدًّا.", "اختر عددًا أصغر.");
    MZ1013 Usage
        ("The decimal number has too many digits.", "Write at most 17 significant digits.")
        ("في العدد العشري خانات كثيرة جدًّا.", "اكتب 17 خانة معنوية على الأكثر.");
}
