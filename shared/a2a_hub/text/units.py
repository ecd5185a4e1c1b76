"""Units of quantities, in English and Japanese, and what they are counted in."""

import re
from decimal import Decimal

# A line is a normal unit with its names; "30 minutes" and 30分 are one duration.
_TABLE = """
jpy: 円 yen jpy
usd: ドル 米ドル dollar dollars usd
eur: ユーロ euro euros eur
gbp: ポンド pound pounds gbp
chf: chf swiss_francs スイスフラン
nok: nok kroner クローネ
inr: inr rupees ルピー
cny: cny yuan 人民元
krw: krw won ウォン
peso: pesos ペソ
cad: cad カナダドル
aud: aud 豪ドル オーストラリアドル
sgd: sgd シンガポールドル
hkd: hkd 香港ドル
sek: sek kronor
thb: thb baht バーツ
cent: cents cent セント
penny: pence ペンス p
permille: ‰ permille パーミル
bar: bar バール
psi: psi
pascal: mpa メガパスカル megapascal megapascals
kpa: kpa キロパスカル kilopascal kilopascals
kelvin: kelvin ケルビン
mps: m/s metres_per_second meters_per_second
kmh: km/h kph kilometres_per_hour kilometers_per_hour
percent: % percent パーセント per_cent
point: ポイント points percentage_point percentage_points
tenth: 割
s: 秒間 秒 second seconds sec secs s
min: 分間 分 minute minutes min mins
h: 時間 hour hours hr hrs h
d: 日間 日 day days calendar_day calendar_days 暦日 夜 nights_and_days
bd: 営業日 稼働日 就業日 business_day business_days working_day working_days workday workdays
week: 週間 週 week weeks
month: か月間 ヶ月間 か月 ヶ月 カ月 ヵ月 ケ月 箇月 month months
year: 年間 か年 ヶ年 年 year years yr yrs
decade: decade decades
century: century centuries 世紀
fortnight: fortnight fortnights
age: 歳 才 years_old year_old yr_old yrs_old years_of_age year-old year-olds years-old
person: 人 名 people person persons employees staff members participants guests visitors attendees students
time: 回 times
fold: 倍 fold
item: 件 個 つ 点 項目 items item
sheet: 枚 sheets
copy: 部 冊 copies
machine: 台
box: 箱 boxes cartons
company: 社 companies
floor: 階 floor floors
page: ページ 頁 page pages
letter: 文字 字 characters character letters
digit: 桁 digits digit
night: 泊 night nights
room: 室 部屋 rooms
grade: 年生
meal: 食 meals servings
stage: 段階 stages
kg: kg キログラム キロ kilogram kilograms kilo kilos
g: g グラム gram grams
mg: mg ミリグラム milligrams
ton: t トン ton tons tonnes
km: km キロメートル kilometre kilometres kilometer kilometers
m: m メートル metre metres meter meters
cm: cm センチメートル センチ centimetres centimeters
mm: mm ミリメートル ミリ millimetres millimeters
mile: mile miles マイル
l: l リットル litre litres liter liters
ml: ml ミリリットル millilitres milliliters
m2: ㎡ m2 m² 平方メートル 平米 square_metres square_meters square_metre square_meter sqm
km2: km2 km² 平方キロメートル square_kilometres square_kilometers
sqft: 平方フィート square_feet square_foot
tsubo: 坪
yard: ヤード yard yards
m3: ㎥ m3 m³ 立方メートル 立米 cubic_metres cubic_meters cubic_metre cubic_meter
celsius: ℃ °c 度 degrees degrees_celsius
fahrenheit: °f degrees_fahrenheit
kb: kb キロバイト kilobytes
mb: mb メガバイト megabytes
gb: gb ギガバイト gigabytes
tb: tb テラバイト terabytes
mbps: mbps
gbps: gbps
ms: ms ミリ秒 milliseconds
kw: kw キロワット kilowatt kilowatts
kwh: kwh kilowatt_hour kilowatt_hours kilowatt-hour kilowatt-hours キロワット時
mwh: mwh メガワット時 megawatt_hour megawatt_hours
w: ワット watt watts w
v: ボルト volt volts v
db: db デシベル decibels
hz: hz ヘルツ
ha: ha hectare hectares ヘクタール
acre: acre acres エーカー
inch: inch inches インチ
foot: ft foot feet フィート
knot: knot knots ノット
hpa: hpa ヘクトパスカル
lux: lux lx ルクス
ppm: ppm
rpm: rpm
kcal: kcal キロカロリー
ampere: ampere amperes amps アンペア
kl: kl キロリットル
"""
UNITS = {
    name.replace("_", " "): line.split(":")[0] for line in _TABLE.strip().splitlines() for name in line.split()[1:]
}
SCALED: dict[str, tuple[Decimal | int, str]] = {
    "week": (7, "d"), "year": (12, "month"), "decade": (120, "month"), "century": (1200, "month"), "fortnight": (14, "d"),
    "tenth": (10, "percent"), "l": (1000, "ml"), "kl": (10**6, "ml"), "kw": (1000, "w"), "penny": (Decimal("0.01"), "gbp"),
    "g": (1000, "mg"), "kg": (10**6, "mg"), "ton": (10**9, "mg"), "cm": (10, "mm"), "m": (1000, "mm"), "km": (10**6, "mm"),
    "ha": (10_000, "m2"), "km2": (10**6, "m2"), "mwh": (1000, "kwh"),
}  # fmt: skip
MONEY = frozenset(
    {"jpy", "usd", "eur", "gbp", "chf", "nok", "inr", "cny", "krw", "peso", "cad", "aud", "sgd", "hkd", "sek", "thb"}
)
SIGNS = {"¥": "jpy", "$": "usd", "€": "eur", "£": "gbp", "s$": "sgd", "a$": "aud", "c$": "cad", "hk$": "hkd"}
# Counters, which languages choose differently: 5名 is five approvers, five guests or five.
COUNTERS = frozenset(
    re.findall(
        r"\S+",
        "person time fold item sheet copy machine box company floor page letter digit night room stage point age grade meal",
    )
)
