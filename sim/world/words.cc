#include "sim/world/words.h"

namespace portolan::sim {
namespace {

using Words = std::string_view;

constexpr Words kPath[128] = {
    "amber",   "anchor",  "apple",   "arrow",   "autumn",  "badge",   "bakery",  "bamboo",   "banner", "barley",
    "basket",  "beacon",  "berry",   "birch",   "blanket", "bloom",   "bottle",  "bridge",   "bronze", "bucket",
    "butter",  "cabin",   "candle",  "canvas",  "carbon",  "castle",  "cedar",   "cellar",   "chalk",  "cherry",
    "cinder",  "circle",  "cliff",   "clover",  "cobalt",  "comet",   "copper",  "coral",    "cotton", "cradle",
    "crystal", "dawn",    "delta",   "desert",  "diamond", "drift",   "eagle",   "ember",    "engine", "falcon",
    "feather", "fern",    "field",   "flint",   "forest",  "fossil",  "garden",  "garnet",   "ginger", "glacier",
    "granite", "grove",   "harbor",  "harvest", "hazel",   "heron",   "honey",   "horizon",  "island", "ivory",
    "jasmine", "jungle",  "juniper", "kettle",  "lagoon",  "lantern", "lemon",   "linen",    "lotus",  "maple",
    "marble",  "meadow",  "mercury", "mill",    "mint",    "mirror",  "moss",    "mountain", "nectar", "nickel",
    "north",   "oak",     "ocean",   "olive",   "onyx",    "opal",    "orchard", "otter",    "oyster", "paper",
    "pebble",  "pepper",  "pine",    "planet",  "plaza",   "quarry",  "quartz",  "quill",    "raven",  "ribbon",
    "river",   "saffron", "sage",    "silver",  "slate",   "spruce",  "summit",  "thistle",  "timber", "tulip",
    "valley",  "velvet",  "violet",  "walnut",  "willow",  "winter",  "yarrow",  "zephyr"};

constexpr Words kHost[16] = {"blog", "news", "m",     "forum", "wiki", "docs",  "shop-at", "user",
                             "img",  "dev",  "music", "photo", "home", "store", "people",  "team"};

constexpr Words kSpam[32] = {"cheap",   "casino", "pills",  "loans",  "win",    "bonus", "free",   "poker",
                             "replica", "watch",  "credit", "deal",   "luxury", "best",  "online", "buy",
                             "top",     "sale",   "money",  "fast",   "slim",   "lucky", "vip",    "jackpot",
                             "rx",      "bet",    "super",  "direct", "mega",   "easy",  "promo",  "offer"};

constexpr Words kMaze[2][64] = {
    {"linked",  "mount",    "self",    "tree",    "alias",    "up",    "stores",  "volume",  // repeat
     "events",  "calendar", "diary",   "agenda",  "days",     "when",  "planner", "dates",   // calendar
     "visit",   "s",        "session", "guest",   "cart",     "tour",  "my",      "walk",    // session in the path
     "sid",     "token",    "sessid",  "visitid", "jsession", "sx",    "guestid", "track",   // session in the query
     "refine",  "filter",   "drill",   "narrow",  "within",   "also",  "tags",    "add",     // growing
     "shop",    "products", "items",   "colour",  "size",     "brand", "price",   "order",   // facets
     "missing", "content",  "node",    "entry",   "old",      "gone",  "related", "more",    // soft 404
     "go",      "out",      "jump",    "redir",   "click",    "next",  "hop",     "away"},   // redirects
    {"inner",   "loop",   "roots",   "branch", "shadow",  "again",    "volumes", "copyof", "termine", "kalender",
     "monat",   "rooms",  "booking", "slots",  "shifts",  "schedule", "besuch",  "u",      "ticket",  "client",
     "trolley", "stroll", "me",      "run",    "phpsid",  "key",      "cfid",    "uid",    "zenid",   "osc",
     "aspsess", "ref",    "select",  "facet",  "deeper",  "limit",    "inside",  "plus",   "labels",  "with",
     "catalog", "parts",  "spares",  "shade",  "width",   "maker",    "cost",    "sort",   "absent",  "story",
     "doc",     "record", "prior",   "lost",   "similar", "further",  "link",    "exit",   "leap",    "fwd",
     "tap",     "then",   "skip",    "leave"},
};

constexpr Words kEnglish[] = {
    "the",   "of",     "and",     "to",     "in",     "a",       "is",     "that",    "for",    "it",     "was",
    "on",    "with",   "as",      "by",     "at",     "from",    "which",  "harbour", "letter", "window", "engine",
    "paper", "number", "between", "always", "summer", "winter",  "people", "small",   "large",  "first",  "second",
    "river", "train",  "music",   "answer", "open",   "morning", "under",  "never",   "city",   "garden", "science",
    "water", "light",  "north",   "story",  "simple", "market",  "they",   "were",    "work",   "through"};
constexpr Words kGerman[] = {
    "der",    "die",   "und",   "in",     "den",   "von",    "zu",      "das",    "mit",      "sich",    "des",
    "auf",    "für",   "ist",   "im",     "dem",   "nicht",  "ein",     "eine",   "Straße",   "Mädchen", "schön",
    "größer", "über",  "Fluß",  "Brücke", "Bäume", "Wasser", "Abend",   "Morgen", "Fenster",  "Zeitung", "Menschen",
    "immer",  "viele", "klein", "hören",  "König", "Tür",    "täglich", "Küche",  "zwischen", "gehört",  "früher"};
constexpr Words kFrench[] = {
    "le",     "la",    "les",   "des",    "et",      "à",      "un",       "une",  "dans",   "que",      "être",
    "pour",   "qui",   "été",   "forêt",  "élève",   "où",     "très",     "déjà", "après",  "château",  "garçon",
    "maison", "route", "temps", "jardin", "lumière", "marché", "rivière",  "mère", "frère",  "nouvelle", "histoire",
    "train",  "ville", "sœur",  "café",   "même",    "côté",   "français", "août", "petite", "première", "fenêtre"};
constexpr Words kSpanish[] = {
    "de",     "la",      "que",   "el",     "en",      "y",       "los",     "se",   "del",    "las",    "un",
    "por",    "con",     "una",   "niño",   "mañana",  "también", "más",     "año",  "según",  "allí",   "canción",
    "río",    "jardín",  "árbol", "ciudad", "tiempo",  "español", "pequeño", "agua", "camino", "música", "corazón",
    "señora", "después", "luz",   "nunca",  "siempre", "pueblo",  "país",    "día",  "sueño",  "calle",  "última"};
constexpr Words kPolish[] = {"i",      "w",     "na",       "z",     "się",    "nie",    "że",      "do",    "jest",
                             "jak",    "żeby",  "dzień",    "noc",   "miasto", "rzeka",  "książka", "łódź",  "światło",
                             "zawsze", "późno", "człowiek", "młody", "droga",  "śnieg",  "zima",    "lato",  "wiosna",
                             "jesień", "woda",  "okno",     "dom",   "źródło", "piękny", "kościół", "gdzie", "mąż",
                             "żona",   "syn",   "córka",    "ulica", "pociąg", "ćma",    "ręka",    "głowa"};
constexpr Words kRussian[] = {
    "и",      "в",      "не",     "на",     "что",     "он",    "с",      "как",     "это",     "по",        "но",
    "город",  "река",   "дорога", "время",  "человек", "книга", "окно",   "вечер",   "утро",    "зима",      "лето",
    "весна",  "осень",  "письмо", "музыка", "свет",    "вода",  "всегда", "никогда", "большой", "маленький", "новый",
    "старый", "дерево", "сад",    "поезд",  "улица",   "дом",   "слово",  "жизнь",   "работа",  "друг",      "ещё"};
constexpr Words kGreek[] = {"και",     "το",       "της",     "η",     "να",       "του",       "με",     "για",
                            "από",     "είναι",    "που",     "πόλη",  "ποτάμι",   "δρόμος",    "χρόνος", "άνθρωπος",
                            "βιβλίο",  "παράθυρο", "βράδυ",   "πρωί",  "χειμώνας", "καλοκαίρι", "άνοιξη", "γράμμα",
                            "μουσική", "φως",      "νερό",    "πάντα", "ποτέ",     "μεγάλο",    "μικρό",  "νέο",
                            "παλιό",   "δέντρο",   "κήπος",   "τρένο", "σπίτι",    "λέξη",      "ζωή",    "δουλειά",
                            "φίλος",   "ακόμη",    "θάλασσα", "ήλιος"};
constexpr Words kJapanese[] = {"は",     "の",     "に",     "を",     "と",   "が",           "で",   "も",   "から",
                               "まで",   "町",     "川",     "道",     "時間", "人",           "本",   "窓",   "夜",
                               "朝",     "冬",     "夏",     "春",     "秋",   "手紙",         "音楽", "光",   "水",
                               "いつも", "大きい", "小さい", "新しい", "古い", "木",           "庭",   "電車", "家",
                               "言葉",   "仕事",   "友達",   "海",     "山",   "ソフトウェア", "表示", "予約", "能力",
                               "データ", "ページ", "です",   "ます",   "した"};
constexpr Words kChinese[] = {"的",   "是",   "在",   "了",   "和",   "有",   "我们", "他们", "城市", "河流",
                              "道路", "时间", "人",   "书",   "窗户", "晚上", "早晨", "冬天", "夏天", "春天",
                              "秋天", "信",   "音乐", "光",   "水",   "总是", "从来", "大",   "小",   "新",
                              "旧",   "树",   "花园", "火车", "家",   "语言", "工作", "朋友", "海洋", "山",
                              "网络", "页面", "数据", "历史", "学校", "问题", "生活", "世界", "已经", "可以"};

constexpr Words kWestern[] = {"utf-8", "iso-8859-1", "windows-1252"};
constexpr Words kCentral[] = {"utf-8", "iso-8859-2", "windows-1250"};
constexpr Words kCyrillic[] = {"utf-8", "windows-1251", "koi8-r"};
constexpr Words kHellenic[] = {"utf-8", "iso-8859-7", "windows-1253"};
constexpr Words kNippon[] = {"utf-8", "shift_jis", "euc-jp"};
constexpr Words kHan[] = {"utf-8", "gb2312", "gb18030"};

constexpr Language kLanguages[] = {
    {"en", " ", ". ", kEnglish, kWestern}, {"de", " ", ". ", kGerman, kWestern}, {"fr", " ", ". ", kFrench, kWestern},
    {"es", " ", ". ", kSpanish, kWestern}, {"pl", " ", ". ", kPolish, kCentral}, {"ru", " ", ". ", kRussian, kCyrillic},
    {"el", " ", ". ", kGreek, kHellenic},  {"ja", "", "。", kJapanese, kNippon}, {"zh", "", "。", kChinese, kHan},
};

}  // namespace

std::span<const std::string_view> PathWords() { return kPath; }
std::span<const std::string_view> HostWords() { return kHost; }
std::span<const std::string_view> SpamWords() { return kSpam; }
std::span<const std::string_view> MazeWords(uint64_t list) { return kMaze[list & 1]; }
std::span<const Language> Languages() { return kLanguages; }

}  // namespace portolan::sim
