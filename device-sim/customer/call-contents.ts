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

/** A row of a CSV file, by its columns: the values of an action for one device. */
export type Values = Readonly<Record<string, string>>;

/** The actions that take values of a file, with the columns that they need and those that they also know. */
export const SETTINGS = {
  setWifi: { needed: ['ssid'], known: ['security', 'password'] },
  setApn: { needed: ['name', 'apn', 'mcc', 'mnc'], known: ['user', 'password', 'authType'] },
  setLanguage: { needed: ['lang'], known: [] },
} as const satisfies Record<string, { needed: readonly string[]; known: readonly string[] }>;
export type Setting = keyof typeof SETTINGS;

/** The members of a setting that a row has a value for. */
const membersOf = (doing: Setting, values: Values): Values =>
  Object.fromEntries(
    [...SETTINGS[doing].needed, ...SETTINGS[doing].known].flatMap((name) =>
      values[name] === undefined || values[name] === '' ? [] : [[name, values[name]]],
    ),
  );

type Security = 'OPEN' | 'WEP' | 'WPA2' | 'WPA3';
interface Network {
  readonly ssid: string;
  readonly security: Security;
  readonly password?: string;
}

/**
 * The Wi-Fi networks for the action with this number, or that of a row of a file. Names and passwords of the greatest
 * length, Unicode and empty texts take turns.
 */
export function networksOf(number: number, values?: Values): Network[] {
  if (values) return [{ security: 'WPA2', ...membersOf('setWifi', values) } as Network];
  const plain: Network = { ssid: `network ${number}`, security: 'WPA2', password: 'simulated network' };
  const others: readonly Network[] = [
    { ssid: `網 ${number} 📶`, security: 'WPA3', password: 'päss "wörd" \\ 🔑' },
    { ssid: String(number).padEnd(LONGEST_SSID, '~'), security: 'WPA2', password: 'x'.repeat(LONGEST_PASSWORD) },
    { ssid: `open ${number}`, security: 'OPEN', password: '' },
    { ssid: `é ${number}`, security: 'WEP', password: '12345' },
  ];
  return number % 3 === 1 ? [plain] : [plain, pick(others, number)];
}

interface AccessPoint {
  readonly name: string;
  readonly apn: string;
  readonly mcc: string;
  readonly mnc: string;
  readonly user?: string;
  readonly password?: string;
  readonly authType?: number;
}

/** The access point (APN) for the action with this number, or that of a row of a file. */
export function apnsOf(number: number, values?: Values): AccessPoint[] {
  if (values) {
    const { authType, ...members } = membersOf('setApn', values);
    return [{ ...members, ...(authType !== undefined && { authType: Number(authType) }) } as unknown as AccessPoint];
  }
  return [
    {
      name: `${pick(NAMES, number)} ${number}`,
      apn: `n${number}.example`,
      mcc: '440',
      mnc: '10',
      ...(number % 2 === 0 && { user: '', password: pick(NAMES, number + 1), authType: 0 }),
    },
  ];
}

/** The language for the action with this number, or that of a row of a file. */
export const languageOf = (number: number, values?: Values): string => values?.['lang'] ?? pick(LANGUAGES, number);
