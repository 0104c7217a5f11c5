//! Errors of the command line itself: options, files, interruption.

super::codes! {
    MZ0001 Usage
        ("The command line is not valid.", "Run `mizan --help` or `mizan COMMAND --help`.")
        ("سطر الأوامر غير صحيح.", "شغّل mizan --help أو mizan COMMAND --help.");
    MZ0002 Configuration
        ("A file or folder cannot be read or written.", "Check the path, its permissions and the space on the disk.")
        ("تعذّرت قراءة ملف أو مجلد أو كتابته.", "تحقق من المسار والأذونات ومساحة القرص.");
    MZ0003 Usage
        ("The file is not UTF-8 text.", "Save the file as UTF-8.")
        ("الملف ليس نصًّا بترميز UTF-8.", "احفظ الملف بترميز UTF-8.");
    MZ0004 Usage
        ("The file name does not end in .json or .csv.", "Rename the file so that its ending states its format.")
        ("لا ينتهي اسم الملف بـ .json أو .csv.", "سمِّ الملف بلاحقة تدل على صيغته.");
    MZ0005 Usage
        ("The file is empty.", "Write the expected content into the file, or name another file.")
        ("الملف فارغ.", "اكتب فيه المحتوى المطلوب، أو سمِّ ملفًا آخر.");
    MZ0006 Usage
        ("A line of the mechanism file is not valid.", "Use the header `p,q` or `loss,probability`, then one outcome per line.")
        ("في ملف الآلية سطر غير صحيح.", "اجعل السطر الأول p,q أو loss,probability، ثم اكتب نتيجة واحدة في كل سطر.");
    MZ0007 Unavailable
        ("The command was interrupted.", "Run the same query again: if it was charged, the charge stands and the retry is free.")
        ("أُوقف الأمر قبل أن ينتهي.", "أعد السؤال نفسه: إن كانت كلفته قد خُصمت فلن تُخصم مرة أخرى.");
    MZ0008 Usage
        ("Two options exclude each other.", "Keep one of the two options.")
        ("أُعطي خياران لا يجتمعان.", "أبقِ أحد الخيارين.");
    MZ0009 Usage
        ("A required option is missing.", "Add the option that the message names.")
        ("ينقص خيار لازم.", "أضف الخيار المذكور أدناه.");
    MZ0010 Usage
        ("The value of an option is not one that it accepts.", "Write a value in the form that the message shows.")
        ("قيمة الخيار ليست مما يقبله.", "اكتب القيمة بالصورة المذكورة أدناه.");
    MZ0011 Conflict
        ("The folder already exists.", "Remove the folder, or name another one with `--folder`.")
        ("المجلد موجود من قبل.", "احذف المجلد، أو سمِّ مجلدًا آخر بـ --folder.");
}
