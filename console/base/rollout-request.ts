import type { DeviceSelector, RolloutCreate } from './rows.ts';
import { termsOf } from './tag-terms.ts';
import { given, numberOf, typed } from './typed.ts';

/** Makes the parts of a request for a rollout from the fields of its form. */

/** The names of the fields of the selector. */
export const OF = {
  mode: 'of',
  devices: 'ofDevices',
  tags: 'ofTags',
  package: 'ofPackage',
  versionIs: 'ofVersionIs',
  version: 'ofVersion',
  firmwareIs: 'ofFirmwareIs',
  firmware: 'ofFirmware',
  lang: 'ofLang',
  battery: 'ofBattery',
  charging: 'ofCharging',
  network: 'ofNetwork',
  storage: 'ofStorage',
  rollout: 'ofRollout',
  memberState: 'ofMemberState',
  connected: 'ofConnected',
  seenWithin: 'ofSeenWithin',
  percent: 'ofPercent',
  salt: 'ofSalt',
} as const;

const MEBIBYTE = 1024 * 1024;

type Tags = NonNullable<DeviceSelector['tags']>;

/** Reads terms such as `site=osaka, !old`. Throws an Error that names a term which is none. */
export function tagTermsOf(text: string): Tags {
  const found = new Map<string, string[] | null>();
  for (const term of termsOf(text)) {
    const isAbsent = term.startsWith('!');
    const end = term.indexOf('=');
    if (!isAbsent && end < 1) throw new Error(`"${term}" is no tag: write key=value, or !key for devices without it.`);
    const key = isAbsent ? term.slice(1) : term.slice(0, end);
    const before = found.get(key);
    if (before !== undefined && (before === null) !== isAbsent)
      throw new Error(`The tags ask for ${key} and for its absence.`);
    found.set(key, isAbsent ? null : [...(before ?? []), term.slice(end + 1)]);
  }
  return Object.fromEntries([...found].map(([key, values]) => [key, values?.length === 1 ? values[0]! : values]));
}

/** A condition whose kind is chosen in one field, such as `versionNot`, and whose text is typed into another. */
function conditionOf(data: FormData, kindField: string, textField: string): Partial<DeviceSelector> {
  const [kind, text] = [typed(data, kindField), typed(data, textField)];
  return kind === undefined || text === undefined ? {} : { [kind]: text };
}

/** Reads the fields of the selector. Throws an Error for a tag that cannot be read. */
export function selectorOf(data: FormData): DeviceSelector {
  if (data.get(OF.mode) === 'list') {
    const text = typed(data, OF.devices) ?? '';
    return { devices: [...new Set(text.split(/[\s,;]/).filter((deviceId) => deviceId !== ''))] };
  }
  const [tags, connected] = [typed(data, OF.tags), typed(data, OF.connected)];
  const [charging, storage] = [typed(data, OF.charging), numberOf(data, OF.storage)];
  return given({
    tags: tags === undefined ? undefined : tagTermsOf(tags),
    package: typed(data, OF.package),
    ...conditionOf(data, OF.versionIs, OF.version),
    ...conditionOf(data, OF.firmwareIs, OF.firmware),
    lang: typed(data, OF.lang),
    batteryAtLeast: numberOf(data, OF.battery),
    charging: charging === undefined ? undefined : charging === 'true',
    networkType: typed(data, OF.network),
    storageFreeAtLeast: storage === undefined ? undefined : Math.round(storage * MEBIBYTE),
    rollout: typed(data, OF.rollout),
    memberState: typed(data, OF.memberState),
    connected: connected === undefined ? undefined : connected === 'true',
    lastSeenWithin: numberOf(data, OF.seenWithin),
    percent: numberOf(data, OF.percent),
    salt: typed(data, OF.salt),
  }) as DeviceSelector;
}

type Stage = NonNullable<RolloutCreate['stages']>[number];

/** Reads the fields of the stages. Each stage has one field of each name. */
export function stagesOf(data: FormData): Stage[] {
  const all = (name: string): string[] => data.getAll(name) as string[];
  const [units, shares, soaks, approvals] = [
    all('stageUnit'),
    all('stageSucceeded'),
    all('stageSoak'),
    all('stageApproval'),
  ];
  return all('stageSize').map((size, index) => {
    const [share, soak] = [shares[index]!, soaks[index]!];
    return {
      ...(units[index] === 'percent' ? { percent: Number(size) } : { count: Number(size) }),
      ...(share !== '' && {
        continueWhen: { succeededPercent: Number(share), ...(soak !== '' && { soakFor: Number(soak) }) },
      }),
      ...(approvals[index] === 'true' && { approval: true }),
      ...(approvals[index] === 'other' && { approval: { by: 'other' as const } }),
    };
  });
}

/** Reads the rule for failures that are tried again; undefined without codes. */
export function retryOf(data: FormData): RolloutCreate['retry'] {
  const codes = (typed(data, 'retryCodes') ?? '')
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '');
  if (codes.length === 0) return undefined;
  return { codes, attempts: numberOf(data, 'retryAttempts') ?? 2, after: numberOf(data, 'retryAfter') ?? 0 };
}
