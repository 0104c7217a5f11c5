//! Budgets, charges and the ledger.

super::codes! {
    MZ1701 Usage
        ("An amount of privacy loss is not a number.", "Give a number such as 0.5.")
        ("مقدار خسارة الخصوصية ليس عددًا.", "أعطِ عددًا مثل 0.5.");
    MZ1702 Usage
        ("An amount of privacy loss is negative.", "Give an amount of 0 or more.")
        ("مقدار خسارة الخصوصية سالب.", "أعطِ مقدارًا من 0 فأكثر.");
    MZ1703 Usage
        ("The budget is not finite.", "Leave out the orders without a limit.")
        ("الميزانية غير منتهية.", "لا تذكر الرتب التي لا حدّ لها.");
    MZ1704 Usage
        ("The account has no Rényi order.", "Give at least one order, or leave the orders out for the standard list.")
        ("ليست للحساب أي رتبة من رتب ريني.", "أعطِ رتبة واحدة على الأقل، أو لا تذكر الرتب لتُستعمل القائمة المعتادة.");
    MZ1705 Usage
        ("The account has too many Rényi orders.", "Give fewer orders.")
        ("رتب ريني في الحساب كثيرة جدًّا.", "أعطِ رتبًا أقل.");
    MZ1706 Usage
        ("The Rényi orders do not increase from above 1.", "List the orders in increasing order.")
        ("رتب ريني ليست متصاعدة، أو ليست كلها أكبر من 1.", "رتّبها تصاعديًّا.");
    MZ1707 Unsupported
        ("The event has no Rényi curve, so the ledger cannot charge it.", "Replace the part without a curve by a guarantee such as `pure(EPSILON)` or `zcdp(RHO)`.")
        ("ليس لهذا الحدث منحنى ريني، فلا يستطيع الدفتر خصم كلفته.", "ضع مكان الجزء الذي لا منحنى له ضمانًا مثل pure(EPSILON) أو zcdp(RHO).");
    MZ1708 Usage
        ("A part of the event is repeated too often to be charged.", "Charge the event in several parts.")
        ("أحد أجزاء الحدث مكرر أكثر مما يمكن خصمه.", "اخصم كلفة الحدث على دفعات.");
    MZ1710 Usage
        ("The budget can never cover any charge.", "Give a larger epsilon or delta, or larger orders.")
        ("لا تكفي هذه الميزانية لأي عملية خصم أبدًا.", "اختر ε أو δ أكبر، أو رتبًا أكبر.");
    MZ1711 Usage
        ("The reserved delta leaves nothing of the budget's delta.", "Reserve a smaller part of delta.")
        ("لا تترك δ المحجوزة شيئًا من δ هذه الميزانية.", "احجز جزءًا أصغر من δ.");
    MZ1712 Usage
        ("The account does not keep this Rényi order.", "Use an order of the account, or create the account with this order.")
        ("ليست هذه الرتبة من رتب الحساب.", "استعمل رتبة من رتب الحساب، أو أنشئ الحساب بهذه الرتبة.");
    MZ1713 Usage
        ("The new budget is not higher at every order.", "Raise epsilon and delta; neither can be lowered. A larger reserved delta needs a larger delta.")
        ("الميزانية الجديدة ليست أعلى عند كل رتبة.", "ارفع ε وδ؛ لا يمكن خفض أي منهما. وزيادة δ المحجوزة تحتاج إلى δ أكبر.");
    MZ1714 Usage
        ("A budget can only be raised to a budget of the same kind.", "Create a new account for another kind of budget.")
        ("لا تُرفع الميزانية إلا إلى ميزانية من النوع نفسه.", "أنشئ حسابًا جديدًا لنوع آخر من الميزانية.");
    MZ1715 Integrity
        ("The limits of a budget do not enforce its target.", "Do not release from this ledger; keep a copy and tell the auditor.")
        ("حدود الميزانية لا تضمن هدفها.", "أوقف إصدار النتائج بهذا الدفتر؛ احتفظ بنسخة منه، وأبلغ المدقق.");
    MZ1720 Usage
        ("The account has no name.", "Give a name such as census-2026.")
        ("الحساب بلا اسم.", "أعطه اسمًا مثل census-2026.");
    MZ1721 Usage
        ("The account name is too long.", "Choose a shorter name.")
        ("اسم الحساب طويل جدًّا.", "اختر اسمًا أقصر.");
    MZ1722 Usage
        ("The account name has characters that cannot be shown.", "Use visible characters, without spaces around the name.")
        ("في اسم الحساب محارف لا تُعرض.", "استعمل محارف ظاهرة، بلا مسافات حول الاسم.");
    MZ1725 Integrity
        ("A ledger entry is cut short.", "Restore the ledger, and compare it with a receipt or a checkpoint.")
        ("في الدفتر قيد مبتور.", "استرجع نسخة سليمة من الدفتر، وقارنها بإيصال أو بنقطة تحقق.");
    MZ1726 Integrity
        ("A ledger entry has an unknown version.", "Use the version of Mizan that wrote the ledger, or a newer one.")
        ("في الدفتر قيد من نسخة غير معروفة.", "استعمل نسخة ميزان التي كتبت الدفتر، أو نسخة أحدث.");
    MZ1727 Integrity
        ("A ledger entry is malformed.", "Restore the ledger, and compare it with a receipt or a checkpoint.")
        ("في الدفتر قيد غير صحيح الصيغة.", "استرجع نسخة سليمة من الدفتر، وقارنها بإيصال أو بنقطة تحقق.");
    MZ1730 Configuration
        ("The ledger has not been initialised.", "The data owner runs `mizan init`.")
        ("لم يُهيَّأ هذا الدفتر بعد.", "يهيّئه مالك البيانات بالأمر mizan init.");
    MZ1731 Conflict
        ("The ledger is already initialised.", "Use the ledger as it is, or initialise another one.")
        ("هُيّئ هذا الدفتر من قبل.", "استعمله كما هو، أو هيّئ دفترًا آخر.");
    MZ1732 Conflict
        ("The id was already used for another request.", "Use a new id for a new request.")
        ("استُعمل هذا المعرّف من قبل لطلب آخر.", "أعد تحميل الصفحة ثم اطرح السؤال: لكل طلب جديد معرّف جديد.");
    MZ1733 Usage
        ("Nothing is reserved under this id.", "Reserve first, and use the id of the reservation.")
        ("لا شيء محجوز بهذا المعرّف.", "احجز أولًا، ثم استعمل معرّف الحجز.");
    MZ1734 Usage
        ("The id does not belong to a charge.", "Use the id of a charge; `mizan ledger log` lists them.")
        ("هذا المعرّف ليس لعملية خصم.", "استعمل معرّف عملية خصم؛ والأمر mizan ledger log يعرض المعرّفات.");
    MZ1735 NotFound
        ("There is no such account.", "List the accounts with `mizan budget list`.")
        ("لا يوجد هذا الحساب.", "اعرض الحسابات بالأمر mizan budget list.");
    MZ1736 Conflict
        ("The account name is taken.", "Choose another name.")
        ("اسم الحساب مستعمل.", "اختر اسمًا آخر.");
    MZ1737 Usage
        ("The parent account keeps other Rényi orders.", "Leave the orders out: the account inherits those of its parent.")
        ("للحساب الأعلى رتب ريني أخرى.", "لا تذكر الرتب: يرث الحساب رتب الحساب الأعلى.");
    MZ1738 Usage
        ("The account tree is too deep.", "Place the account higher in the tree.")
        ("شجرة الحسابات أعمق من المسموح.", "ضع الحساب أعلى في الشجرة.");
    MZ1739 Usage
        ("The ledger cannot hold another account.", "Use an existing account.")
        ("لا يتسع الدفتر لحساب آخر.", "استعمل حسابًا موجودًا.");
    MZ1740 Usage
        ("The cost and the account have different numbers of Rényi orders.", "Compute the cost at the orders of the account.")
        ("عدد رتب الكلفة غير عدد رتب الحساب.", "احسب الكلفة عند رتب الحساب.");
    MZ1741 Usage
        ("The event is too long for a ledger entry.", "Charge the event in several parts.")
        ("وصف الحدث أطول مما يُحفظ في قيد.", "اخصم كلفة الحدث على دفعات.");
    MZ1742 Conflict
        ("The charge was not started, so it cannot be committed.", "Start the charge, read the data, then commit.")
        ("لم تبدأ عملية الخصم، فلا تُثبَّت.", "ابدأ عملية الخصم، ثم اقرأ البيانات، ثم ثبّت العملية.");
    MZ1743 Conflict
        ("The charge was already started and may have read the data.", "The charge stands; a new attempt needs a new id.")
        ("بدأت عملية الخصم من قبل، وربما قرأت البيانات.", "تبقى عملية الخصم قائمة؛ والمحاولة الجديدة تحتاج إلى معرّف جديد.");
    MZ1744 Usage
        ("The commit is larger than its reservation.", "Reserve the most that the query may spend.")
        ("ما يُثبَّت أكبر مما حُجز.", "احجز أكبر كلفة قد ينفقها السؤال.");
    MZ1745 Conflict
        ("The charge may have read the data, so it cannot be voided.", "The charge stands: a refund after a failure would be a free query.")
        ("ربما قرأت عملية الخصم البيانات، فلا تُلغى.", "تبقى عملية الخصم قائمة: فردّ الكلفة بعد الفشل يعني سؤالًا بلا كلفة.");
    MZ1746 Conflict
        ("The charge was voided.", "Reserve again under a new id.")
        ("أُلغيت عملية الخصم.", "احجز من جديد بمعرّف جديد.");
    MZ1747 Usage
        ("The event and the account use different neighbouring relations.", "Keep a separate account for the other kind of sampling.")
        ("يستعمل الحدث والحساب علاقتي جوار مختلفتين.", "اجعل لنوع المعاينة الآخر حسابًا مستقلًّا.");
    MZ1748 Integrity
        ("The account does not hold the amount that was reserved.", "Do not release from this ledger; run `mizan ledger verify`.")
        ("ليس في الحساب المقدار الذي حُجز.", "أوقف إصدار النتائج بهذا الدفتر؛ شغّل mizan ledger verify.");
    MZ1749 Usage
        ("The request id is empty.", "Give a UUID or any text of your own, or leave the id out.")
        ("معرّف الطلب فارغ.", "أعطِ معرّفًا UUID أو أي نص تختاره، أو لا تعطِ معرّفًا.");
    MZ1750 Integrity
        ("The log has an entry that the ledger could not have accepted.", "Keep a copy of the ledger and tell the auditor.")
        ("في السجل قيد ما كان للدفتر أن يقبله.", "احتفظ بنسخة من الدفتر، وأبلغ المدقق.");
    MZ1751 Integrity
        ("The log has an entry that differs from the decision of the privacy filter.", "Keep a copy of the ledger and tell the auditor.")
        ("في السجل قيد يخالف قرار مرشّح الخصوصية.", "احتفظ بنسخة من الدفتر، وأبلغ المدقق.");
    MZ1752 Integrity
        ("The log has an entry that repeats a decided request.", "Keep a copy of the ledger and tell the auditor.")
        ("في السجل قيد يكرر طلبًا سبق البت فيه.", "احتفظ بنسخة من الدفتر، وأبلغ المدقق.");
    MZ1753 Unavailable
        ("The account changed while the charge was priced.", "Retry with the same id; nothing was charged.")
        ("تغيّر الحساب أثناء تسعير عملية الخصم.", "أعد المحاولة من الصفحة نفسها، أو بالمعرّف نفسه؛ لم يُخصم شيء.");
    MZ1760 Configuration
        ("The ledger cannot be used.", "Check the path, its permissions and the space on the disk; no charge is lost.")
        ("لا يمكن استعمال الدفتر.", "تحقق من المسار والأذونات ومساحة القرص؛ لم تُفقد أي عملية خصم.");
    MZ1761 Configuration
        ("The file or database is not a ledger.", "Name a ledger that Mizan made, or make one with `mizan init`.")
        ("الملف أو قاعدة البيانات ليس دفترًا من دفاتر ميزان.", "سمِّ دفترًا أنشأه ميزان، أو أنشئ واحدًا بالأمر mizan init.");
    MZ1762 Configuration
        ("The ledger has another format version.", "Run `mizan init --upgrade`, or use the version of Mizan that wrote the ledger.")
        ("صيغة الدفتر من نسخة أخرى.", "شغّل mizan init --upgrade، أو استعمل نسخة ميزان التي كتبت الدفتر.");
    MZ1763 Integrity
        ("The ledger is damaged.", "Do not release from it; restore it and compare it with a receipt or a checkpoint.")
        ("الدفتر تالف.", "أوقف إصدار النتائج بهذا الدفتر؛ استرجع نسخة سليمة منه، وقارنها بإيصال أو بنقطة تحقق.");
    MZ1764 Unavailable
        ("Another process is writing to the ledger.", "Retry with the same id; nothing was charged.")
        ("عملية أخرى تكتب في الدفتر.", "أعد المحاولة من الصفحة نفسها، أو بالمعرّف نفسه؛ لم يُخصم شيء.");
    MZ1765 Configuration
        ("This SQLite version can corrupt a ledger with two writers.", "Use SQLite 3.51.3 or newer.")
        ("نسخة SQLite هذه قد تُتلف الدفتر إذا كتبت فيه عمليتان معًا.", "استعمل SQLite 3.51.3 أو أحدث.");
    MZ1766 Fatal
        ("The ledger does not know whether its last write is durable.", "Retry with the same id once the server is back: the charge is made at most once.")
        ("لا يُعرف هل حُفظت آخر كتابة في الدفتر.", "أعد السؤال من الصفحة نفسها، أو بالمعرّف نفسه، بعد عودة الخادم: لا تُخصم الكلفة إلا مرة واحدة.");
    MZ1767 LimitExceeded
        ("The answer is too large for the ledger.", "Ask for fewer groups or columns. If the query was charged, the charge is spent and has no answer.")
        ("الإجابة أكبر مما يُحفظ في الدفتر.", "اطلب فئات أو أعمدة أقل. وإن كانت كلفة السؤال قد خُصمت فقد أُنفقت بلا إجابة.");
    MZ1768 Configuration
        ("The address of the ledger is not valid.", "Write `postgres://user:password@host/database`.")
        ("عنوان الدفتر غير صحيح.", "اكتب العنوان بالصيغة postgres://user:password@host/database.");
    MZ1769 Configuration
        ("A setting of the database is not safe for a ledger.", "Change the setting that the log names in the server, the database or the role.")
        ("أحد إعدادات قاعدة البيانات غير آمن للدفتر.", "غيّر الإعداد الذي يذكره سجل الخادم، في خادم قاعدة البيانات أو في القاعدة أو في الدور.");
    MZ1770 Configuration
        ("The ledger's database is a standby server.", "Use the address of the primary server.")
        ("قاعدة بيانات الدفتر خادم احتياطي لا يُكتب فيه.", "استعمل عنوان الخادم الأساسي.");
    MZ1771 Configuration
        ("The ledger's PostgreSQL server is too old.", "Use PostgreSQL 12 or newer.")
        ("خادم PostgreSQL الذي فيه الدفتر أقدم من المطلوب.", "استعمل PostgreSQL 12 أو أحدث.");
    MZ1772 Unavailable
        ("The ledger's database cannot be reached; this step wrote nothing, and an earlier charge stands.", "Retry with the same id: a charge is made at most once.")
        ("تعذّر الوصول إلى قاعدة بيانات الدفتر؛ لم تُكتب هذه الخطوة، ويبقى ما خُصم قبلها.", "أعد المحاولة من الصفحة نفسها، أو بالمعرّف نفسه: لا تُخصم الكلفة إلا مرة واحدة.");
    MZ1773 Conflict
        ("A ledger already exists there.", "Use that ledger, or name another place with `--ledger`.")
        ("يوجد دفتر هناك من قبل.", "استعمل ذلك الدفتر، أو سمِّ مكانًا آخر بـ --ledger.");
    MZ1774 Fatal
        ("The ledger is closed because the outcome of an earlier write is unknown.", "Retry with the same id once the server is back: the charge is made at most once.")
        ("أُغلق الدفتر لأن مصير كتابة سابقة غير معروف.", "أعد السؤال من الصفحة نفسها، أو بالمعرّف نفسه، بعد عودة الخادم: لا تُخصم الكلفة إلا مرة واحدة.");
    MZ1775 Integrity
        ("The ledger is older than its high-water mark: it may be an old copy.", "Use the copy with all entries; if it is lost, the data owner runs `mizan ledger restore`.")
        ("الدفتر أقدم من علامة أعلى موضع بلغه: ربما كان نسخة قديمة.", "استعمل النسخة التي فيها كل القيود؛ فإن فُقدت فليشغّل مالك البيانات الأمر mizan ledger restore.");
    MZ1776 Integrity
        ("The ledger is not an extension of its high-water mark: two copies were used.", "Keep both copies and tell the auditor.")
        ("ليس الدفتر امتدادًا لعلامة أعلى موضع بلغه: استُعملت نسختان منه.", "احتفظ بالنسختين، وأبلغ المدقق.");
    MZ1777 Configuration
        ("The high-water mark of the ledger cannot be used.", "Check the ledger by a receipt or a checkpoint, then remove the mark so that it is made again.")
        ("تعذّر استعمال علامة أعلى موضع للدفتر.", "تحقق من الدفتر بإيصال أو بنقطة تحقق، ثم احذف العلامة لتُنشأ من جديد.");
    MZ1778 Configuration
        ("There is no state directory for high-water marks and keys.", "Set `MIZAN_STATE_DIR` to a writable directory away from the ledger.")
        ("لا يوجد مجلد حالة لعلامات أعلى موضع وللمفاتيح.", "اجعل MIZAN_STATE_DIR مجلدًا قابلًا للكتابة، بعيدًا عن الدفتر.");
    MZ1779 Configuration
        ("The state directory cannot be written.", "Set `MIZAN_STATE_DIR` to a writable directory away from the ledger.")
        ("تعذّرت الكتابة في مجلد الحالة.", "اجعل MIZAN_STATE_DIR مجلدًا قابلًا للكتابة، بعيدًا عن الدفتر.");
    MZ1780 Configuration
        ("The signing key is missing.", "Copy the key from the machine that made the ledger; charges and receipts work without it.")
        ("مفتاح التوقيع مفقود.", "انسخ المفتاح من الجهاز الذي أنشأ الدفتر؛ ويعمل الخصم والإيصالات من دونه.");
    MZ1781 Configuration
        ("Other users can read the signing key.", "Run `chmod 600` on the key file.")
        ("يستطيع مستخدمون آخرون قراءة مفتاح التوقيع.", "نفّذ chmod 600 على ملف المفتاح.");
    MZ1782 Usage
        ("The text is not a valid receipt or checkpoint.", "Copy the whole line, from its prefix to its last digit.")
        ("ليس هذا إيصالًا صحيحًا ولا نقطة تحقق صحيحة.", "ألصق السطر كاملًا، من بدايته إلى آخر خانة فيه.");
    MZ1783 Configuration
        ("The ledger is open for reading only.", "Open the ledger for writing, with a state directory.")
        ("فُتح الدفتر للقراءة فقط.", "افتح الدفتر للكتابة، مع مجلد حالة.");
    MZ1784 NotFound
        ("The receipt or checkpoint belongs to another ledger.", "Name the ledger that issued it.")
        ("الإيصال أو نقطة التحقق من دفتر آخر.", "سمِّ الدفتر الذي أصدر الإيصال أو نقطة التحقق.");
    MZ1785 Conflict
        ("The log is not an extension of the receipt or checkpoint.", "Do not release from this ledger; keep the receipt and tell the auditor.")
        ("ليس السجل امتدادًا لسجل الإيصال أو نقطة التحقق.", "أوقف إصدار النتائج بهذا الدفتر؛ احتفظ بالإيصال، وأبلغ المدقق.");
    MZ1786 Usage
        ("The checkpoint is not signed with the key of this ledger.", "Ask the data owner for the public key of the ledger.")
        ("لم تُوقَّع نقطة التحقق بمفتاح هذا الدفتر.", "اطلب من مالك البيانات المفتاح العام للدفتر.");
    MZ1787 Internal
        ("The operating system provides no random numbers for the ledger.", "Nothing was charged; the operator checks getrandom(2) on the machine.")
        ("لا يوفّر نظام التشغيل أعدادًا عشوائية للدفتر.", "لم يُخصم شيء؛ يتحقق مشغّل الخادم من getrandom(2) على الجهاز.");
    MZ1788 Integrity
        ("The log is not intact.", "Keep a copy of the ledger and tell the auditor.")
        ("السجل غير سليم.", "احتفظ بنسخة من الدفتر، وأبلغ المدقق.");
    MZ1789 Integrity
        ("A log entry charged less than its event costs, or its cost cannot be computed.", "Keep a copy of the ledger and tell the auditor.")
        ("في السجل قيد خُصم فيه أقل من كلفة حدثه، أو لا يمكن حساب كلفته.", "احتفظ بنسخة من الدفتر، وأبلغ المدقق.");
    MZ1790 Usage
        ("The text is not a date.", "Write 2026-11-16 or 2026-11-16T12:30:00Z.")
        ("هذا ليس تاريخًا.", "اكتب التاريخ مثل 2026-11-16 أو 2026-11-16T12:30:00Z.");
    MZ1791 NotFound
        ("The ledger has no entry under this id.", "Give a whole receipt (`mizan1:...`) or the id of a charge.")
        ("ليس في الدفتر قيد بهذا المعرّف.", "ألصق الإيصال كاملًا (mizan1:…) أو معرّف عملية الخصم.");
    MZ1792 Usage
        ("Continuing from an old copy of the ledger needs a confirmation.", "Look for the newer copy first, or add `--i-know-that-charges-are-lost`.")
        ("تحتاج المتابعة من نسخة قديمة من الدفتر إلى تأكيد.", "ابحث أولًا عن النسخة الأحدث، أو أضف --i-know-that-charges-are-lost.");
    MZ1793 Conflict
        ("The output file is a database, and Mizan does not overwrite it.", "Name another file.")
        ("ملف الإخراج قاعدة بيانات، ولا يكتب ميزان فوقها.", "سمِّ ملفًا آخر.");
    MZ1794 NotFound
        ("There is no ledger at this place.", "Make one with `mizan init`, or name one with `--ledger` or `MIZAN_LEDGER`.")
        ("لا يوجد دفتر في هذا المكان.", "أنشئ واحدًا بالأمر mizan init، أو سمِّ دفترًا بـ --ledger أو MIZAN_LEDGER.");
    MZ1795 Conflict
        ("Too many queries failed after their charge to the account, or to one above it; nothing was charged.", "The data owner lists them with `mizan budget show` and settles them with `mizan budget settle`. Sending a failed query again costs nothing, and it still counts as failed.")
        ("فشلت أسئلة كثيرة جدًّا بعد خصم كلفتها من الحساب أو من حساب فوقه؛ ولم يُخصم شيء.", "يراجعها مالك البيانات بالأمر mizan budget show ويسوّيها بالأمر mizan budget settle. ويمكن إعادة سؤال فشل بلا كلفة، لكنه يبقى محسوبًا في العدد.");
    MZ1796 Unavailable
        ("Too many queries of this ledger run at once; nothing was charged.", "Retry when other queries have ended.")
        ("يُحسب الآن عدد كبير جدًّا من أسئلة هذا الدفتر؛ ولم يُخصم شيء.", "أعد المحاولة بعد انتهاء أسئلة أخرى.");
}
