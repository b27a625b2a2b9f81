/** Texts that are easily damaged on the way: Unicode beyond the first plane, quotes, limits, and nothing at all. */
const NAMES = [
  'carrier',
  'Funkhaus Süd',
  '無線局',
  '📡 \u{1f469}\u{1f3fd}\u200d\u{1f680}',
  'a "quoted" \\ name',
  'ﷺ e\u0301',
];
const LANGUAGES = ['en-US', 'ja', 'de', 'fr-CA', 'pt-BR', 'zh-Hant-TW'];
/** An ssid has at most 32 bytes, a password of WPA2 at most 63 characters. */
const LONGEST_SSID = 32;
const LONGEST_PASSWORD = 63;

const pick = <Item>(items: readonly Item[], number: number): Item => items[number % items.length]!;

type Security = 'OPEN' | 'WEP' | 'WPA2' | 'WPA3';
interface Network {
  readonly ssid: string;
  readonly security: Security;
  readonly password?: string;
}

/**
 * The Wi-Fi networks for the action with this number. Names and passwords of the greatest length, Unicode and empty
 * texts take turns.
 */
export function networksOf(number: number): Network[] {
  const plain: Network = { ssid: `network ${number}`, security: 'WPA2', password: 'simulated network' };
  const others: readonly Network[] = [
    { ssid: `網 ${number} 📶`, security: 'WPA3', password: 'päss "wörd" \\ 🔑' },
    { ssid: String(number).padEnd(LONGEST_SSID, '~'), security: 'WPA2', password: 'x'.repeat(LONGEST_PASSWORD) },
    { ssid: `open ${number}`, security: 'OPEN', password: '' },
    { ssid: `é ${number}`, security: 'WEP', password: '12345' },
  ];
  return number % 3 === 1 ? [plain] : [plain, pick(others, number)];
}

/** The access point (APN) for the action with this number. */
export const apnsOf = (number: number) => [
  {
    name: `${pick(NAMES, number)} ${number}`,
    apn: `n${number}.example`,
    mcc: '440',
    mnc: '10',
    ...(number % 2 === 0 && { user: '', password: pick(NAMES, number + 1), authType: 0 }),
  },
];

/** The language for the action with this number. */
export const languageOf = (number: number): string => pick(LANGUAGES, number);
