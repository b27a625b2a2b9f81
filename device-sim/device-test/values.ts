import type { Command } from '../mqtt/messages.ts';

type Parameters = Command['parameters'];

const APPLICATION = 'device-test';
const type = 'bluetooth';

/** Ordinary parameters of each operation that downloads nothing. */
export const ORDINARY = {
  activate: { applicationId: APPLICATION, clientId: 'device-test' },
  deactivate: { applicationId: APPLICATION },
  setApn: { apns: [{ name: 'Example', apn: 'internet.example' }] },
  setWifi: { networks: [{ ssid: 'depot', password: 'correct horse', security: 'WPA2' }] },
  setLanguage: { lang: 'en-US' },
  getConnectivityState: { type },
  setConnectivityState: { type, enabled: true },
  listConnectivity: { type },
  pairBluetooth: { macAddress: '02:00:5E:00:53:01' },
  collectDiagnostics: { kinds: ['logs', 'status'] },
} as const satisfies Record<string, Parameters>;

// 32 bytes in UTF-8: eight emoji of four bytes each.
const LONGEST_SSID = '📷'.repeat(8);
const STRANGE = 'Grüße, 今日は, שלום, \u{1f469}\u200d\u{1f692}, a\u0301, "\\/\b\f\n\r\t\u007f';
const ASCII_63 = 'x'.repeat(63);

/** Parameters at the limits of the schemas. */
export const EXTREMES: readonly {
  readonly operation: keyof typeof ORDINARY;
  readonly about: string;
  readonly parameters: Parameters;
  /** The device may fail, because it need not have the thing that the value names. */
  readonly mayFail?: true;
}[] = [
  {
    operation: 'activate',
    about: 'a clientId of 128 characters outside of ASCII',
    parameters: { applicationId: 'a'.repeat(64), clientId: '語'.repeat(128) },
  },
  {
    operation: 'activate',
    about: 'ids of one character',
    parameters: { applicationId: 'a', clientId: 'ß' },
  },
  { operation: 'setApn', about: 'no access points', parameters: { apns: [] } },
  {
    operation: 'setApn',
    about: 'an access point with all members, some of them empty, and Unicode',
    parameters: {
      apns: [
        {
          name: STRANGE,
          apn: 'internet.example',
          proxy: '',
          port: '',
          user: STRANGE,
          server: '',
          password: STRANGE,
          mmsc: '',
          mcc: '001',
          mnc: '01',
          mmsproxy: '',
          mmsport: '',
          type: 'default,supl',
          protocol: 'IPV4V6',
          carrierEnabled: 'true',
          roamingProtocol: 'IP',
          mvnoType: '',
          mvnoMatchData: '',
          authType: 0,
          bearer: 0,
          bearerBitmask: 2_147_483_647,
        },
      ],
    },
  },
  { operation: 'setWifi', about: 'no networks', parameters: { networks: [] } },
  {
    operation: 'setWifi',
    about: 'sixteen networks with each security, the longest names and passwords',
    parameters: {
      networks: [
        { ssid: LONGEST_SSID, password: ASCII_63, security: 'WPA3' },
        { ssid: ' ', password: '12345678', security: 'WPA2_WPA3' },
        { ssid: 'é'.repeat(16), password: 'abcde', security: 'WEP' },
        { ssid: 'no password', security: 'OPEN' },
        { ssid: 'key', password: '0123456789abcdefABCDEF0123456789'.repeat(2), security: 'WPA2' },
        { ssid: 'old key', password: '0123456789abcdefABCDEF0123', security: 'WEP' },
        ...Array.from({ length: 10 }, (_, index) => ({
          ssid: `network ${index}`,
          password: `${index} p\u00e4ssword`,
          security: 'WPA2',
        })),
      ],
    },
  },
  {
    operation: 'setLanguage',
    about: 'the longest tag, of 35 characters',
    parameters: { lang: 'de-Latn-DE-1996-x-lapelsim-abcdefgh' },
    mayFail: true,
  },
  { operation: 'setLanguage', about: 'the shortest tag', parameters: { lang: 'de' } },
  {
    operation: 'pairBluetooth',
    about: 'an address in small letters',
    parameters: { macAddress: 'ff:ff:ff:ff:ff:ff' },
    mayFail: true,
  },
];
