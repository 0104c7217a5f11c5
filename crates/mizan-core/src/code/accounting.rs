//! The accountant: methods, distributions, calibration.

super::codes! {
    MZ1201 Unsupported
        ("The event may fail with unbounded privacy loss, so it has no Rényi guarantee.", "Use a method that takes a delta, such as `--method basic`.")
        ("قد يفشل هذا الحدث فتصير خسارة الخصوصية غير محدودة، فليس له ضمان ريني.", "استعمل طريقة تقبل δ، مثل --method basic.");
    MZ1202 Unsupported
        ("The privacy loss is unbounded, so the event has no pure epsilon.", "Use another method with a delta above 0.")
        ("خسارة الخصوصية غير محدودة، فليس للحدث ε صِرفة.", "استعمل طريقة أخرى مع δ أكبر من 0.");
    MZ1203 Unsupported
        ("This version of Mizan cannot account for the event.", "Use another method, or replace the part by a guarantee such as `pure(EPSILON)`.")
        ("لا تستطيع هذه النسخة من ميزان حساب كلفة هذا الحدث.", "استعمل طريقة أخرى، أو ضع مكان ذلك الجزء ضمانًا مثل pure(EPSILON).");
    MZ1204 Usage
        ("The deltas of the parts add up to more than the target delta.", "Ask for a larger delta.")
        ("مجموع قيم δ للأجزاء أكبر من δ المطلوبة.", "اطلب δ أكبر.");
    MZ1205 Usage
        ("No finite epsilon follows at this delta.", "Ask for a larger delta.")
        ("لا توجد ε منتهية عند δ هذه.", "اطلب δ أكبر.");
    MZ1206 Usage
        ("There is no accounting method of this name.", "Use a method that the message lists.")
        ("لا توجد طريقة حساب بهذا الاسم.", "اختر إحدى الطرائق المذكورة أدناه.");
    MZ1207 Unsupported
        ("The Gaussian formulas apply to Gaussian noise only.", "Use another method.")
        ("لا تنطبق صيغ غاوس إلا على ضوضاء غاوس.", "استعمل طريقة أخرى.");
    MZ1208 Unsupported
        ("No concentrated-DP guarantee of the event is known.", "Use another method.")
        ("لا يُعرف لهذا الحدث ضمان خصوصية تفاضلية مركزة.", "استعمل طريقة أخرى.");
    MZ1209 Unsupported
        ("The Rényi orders are too small for a group of this size.", "Ask for a smaller group, or give larger orders.")
        ("رتب ريني المعطاة أصغر من أن تكفي لمجموعة بهذا الحجم.", "اطلب مجموعة أصغر، أو أعطِ رتبًا أكبر.");
    MZ1210 Unsupported
        ("The event is nested too deeply for group privacy.", "Nest fewer compositions.")
        ("الحدث متداخل أكثر مما تسمح به خصوصية المجموعة.", "قلّل تداخل التركيبات.");
    MZ1211 Unsupported
        ("The parameters overflow for a group of this size.", "Ask for a smaller group.")
        ("تتجاوز المعاملات المدى الممكن لمجموعة بهذا الحجم.", "اطلب مجموعة أصغر.");
    MZ1212 Unsupported
        ("The event is known by a bound, not by its privacy loss distribution.", "Use another method.")
        ("المعروف لهذا الحدث حدّ فقط، لا توزيع خسارة خصوصيته.", "استعمل طريقة أخرى.");
    MZ1213 Unsupported
        ("Sampling without replacement needs a mechanism with a symmetric privacy loss.", "Use `poisson(...)`, or a symmetric mechanism.")
        ("تحتاج المعاينة بلا إرجاع إلى آلية خسارةُ خصوصيتها متماثلة.", "استعمل poisson(...)، أو آلية متماثلة.");
    MZ1214 Unsupported
        ("The parts of the event use different neighbouring relations.", "Account for add/remove and replace neighbours separately.")
        ("تستعمل أجزاء الحدث علاقتي جوار مختلفتين.", "احسب علاقة الإضافة والحذف وعلاقة الاستبدال كلًّا على حدة.");
    MZ1215 Unsupported
        ("Several coordinates may change at once, and the worst-case loss is not known.", "Use another method.")
        ("قد تتغير عدة إحداثيات معًا، ولا تُعرف خسارة الخصوصية في أسوأ حالة.", "استعمل طريقة أخرى.");
    MZ1216 Unsupported
        ("The event is too large for the numerical accountant.", "Use another method, such as `--method renyi`.")
        ("الحدث أكبر من طاقة المحاسب العددي.", "استعمل طريقة أخرى، مثل --method renyi.");
    MZ1217 Unsupported
        ("Shuffling amplifies only a local randomizer with a pure epsilon.", "Shuffle an event such as `rr(0.6)`.")
        ("لا تُعرف نتيجة تضخيم بالخلط إلا لآلية عشوأة محلية ذات ε صِرفة.", "ضع داخل الخلط حدثًا مثل rr(0.6).");
    MZ1218 Unsupported
        ("The guarantee does not extend to a group: the loss of each further person may be unbounded.", "Ask for one person, or give the guarantee of the whole group.")
        ("لا يمتد الضمان إلى مجموعة: قد تكون خسارة كل شخص إضافي غير محدودة.", "اسأل عن شخص واحد، أو اكتب ضمان المجموعة كلها.");
    MZ1301 Usage
        ("The distribution is empty.", "Give at least one probability.")
        ("التوزيع فارغ.", "أعطِ احتمالًا واحدًا على الأقل.");
    MZ1302 Usage
        ("A value of the distribution is not a probability.", "Correct the value that the message names.")
        ("إحدى قيم التوزيع ليست احتمالًا.", "صحّح القيمة المذكورة أدناه.");
    MZ1303 Usage
        ("The probabilities of the distribution do not add up to 1.", "Correct the probabilities so that their sum is 1.")
        ("مجموع احتمالات التوزيع ليس 1.", "صحّح الاحتمالات ليصير مجموعها 1.");
    MZ1304 Usage
        ("The two distributions have different lengths.", "Give each outcome a probability in both distributions.")
        ("طولا التوزيعين مختلفان.", "أعطِ كل نتيجة احتمالًا في كل من التوزيعين.");
    MZ1401 Usage
        ("No value of the parameter meets the target.", "Ask for a larger epsilon or delta.")
        ("لا توجد قيمة للمعامل تحقق الهدف.", "اطلب ε أو δ أكبر.");
}
