import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import { DEVICE, type Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { recordText } from '../show/table.ts';
import { DEVICES_OPTIONS, readSelector } from './selector-options.ts';

type Patch = SchemaTypes['common/tag-patch'];

const REMOVE = {
  remove: {
    value: 'KEY',
    many: true,
    greedy: /^[^=\d][^=]*$/,
    text: 'remove the tag of this key; may be repeated, or followed by several keys',
  },
} satisfies Options;
const CHANGES = { name: 'KEY=VALUE', optional: true, many: true } as const;

/** Reads the changes of tags: `KEY=VALUE` sets a tag, and `--remove KEY` removes one. Throws a UsageError. */
function readPatch(given: Given, pairs: readonly string[]): Patch {
  const patch = new Map<string, string | null>();
  const change = (at: string, key: string, value: string | null): void => {
    if (patch.has(key)) throw new UsageError(at, `changes the tag ${key} a second time`);
    patch.set(key, value);
  };
  for (const pair of pairs) {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (key === '') throw new UsageError(pair, 'is not a tag as KEY=VALUE; --remove KEY removes a tag');
    change(pair, key, value);
  }
  for (const key of given.list('remove')) change('--remove', key, null);
  return Object.fromEntries(patch);
}

export const deviceTag: Command = {
  name: 'device tag',
  arguments: [DEVICE, CHANGES],
  summary: 'Changes tags of a device, and shows all of them; without changes it only shows them',
  about: 'Tags that are not named stay as they are. A device has at most 32 tags.',
  options: { ...REMOVE, ...APPLICATION_OPTIONS },
  examples: [
    'lapel device tag 490154203237518',
    'lapel device tag 490154203237518 site=osaka ring=canary',
    'lapel device tag 490154203237518 site=kyoto --remove ring',
  ],
  async run(given, terminal) {
    const [deviceId = '', ...pairs] = given.positionals;
    const body = readPatch(given, pairs);
    const application = await openApplication(given, terminal);
    const tags = await (Object.keys(body).length === 0
      ? application.call(`read the tags of ${deviceId}`, (lapel) => lapel.readTags({ deviceId }))
      : application.call(`change the tags of ${deviceId}`, (lapel) => lapel.updateTags({ deviceId, body })));
    const text = Object.keys(tags).length === 0 ? `${deviceId} has no tags\n` : recordText(tags);
    return { json: { ok: true, deviceId, tags }, text };
  },
};

export const deviceTags: Command = {
  name: 'device tags',
  arguments: [CHANGES],
  summary: 'Changes tags of all devices that match, without asking',
  about:
    'The change can be repeated, for example after a lost connection. --dry-run tells how many devices it would change.',
  options: {
    ...REMOVE,
    'dry-run': { text: 'only count the devices' },
    all: { text: 'all devices of the application; needed when no other option selects devices' },
    ...DEVICES_OPTIONS,
    ...APPLICATION_OPTIONS,
  },
  examples: [
    'lapel device tags ring=canary --tag site=osaka --percent 10',
    'lapel device tags site=kyoto --device 490154203237518 356938035643809',
    "lapel device tags --remove ring --tag site=osaka --tag '!retired' --dry-run",
    'lapel device tags fleet=2026 --all',
  ],
  async run(given, terminal) {
    const tags = readPatch(given, given.positionals);
    if (Object.keys(tags).length === 0) throw new UsageError('KEY=VALUE', 'or --remove KEY is needed');
    const devices = readSelector(given);
    const isAll = Object.keys(devices).length === 0;
    if (isAll && !given.flag('all'))
      throw new UsageError('--all', 'is needed to change all devices; or select some, as with --tag or --device');
    if (!isAll && given.flag('all'))
      throw new UsageError('--all', 'cannot be combined with options that select devices');
    const application = await openApplication(given, terminal);
    const tagged = await application.call('change the tags', (lapel) =>
      lapel.updateTagsOfMany({ body: { devices, tags, ...(given.flag('dry-run') && { dryRun: true }) } }),
    );
    const { matching, changed, refused, refusedDevices } = tagged;
    const outcome = {
      json: { ok: refused === 0, ...tagged },
      text: recordText({ matching, changed, refused }),
    };
    if (refused === 0) return outcome;
    const some = refusedDevices.join(', ');
    const which = refused > refusedDevices.length ? `among them ${some}` : some;
    return { ...outcome, problem: `${refused} would have more than 32 tags and stay as they were: ${which}` };
  },
};
