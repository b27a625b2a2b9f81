import { MEMBER_STATES } from '@lapel/schemas/base/rollouts';
import { type Child, div, label, span, textarea } from '../base/elements.ts';
import { OF } from '../base/rollout-request.ts';
import { choice, textField } from './fields.ts';
import { whole } from './rollout-fields.ts';

/** The fields that select devices. */

type Known = Readonly<Record<string, string | undefined>>;

const SEEN = [
  ['', 'at any time'],
  ['3600', 'the last hour'],
  ['86400', 'the last day'],
  ['604800', 'the last 7 days'],
  ['2592000', 'the last 30 days'],
] as const;

const condition = (name: string, kind: string) =>
  [
    ['', `any ${name}`],
    [kind, `${name} is`],
    [`${kind}Not`, `${name} is not`],
    [`${kind}Range`, `${name} is in the range`],
  ] as const;

/** The fields for a list of deviceIds. */
export const listFields = (): Child =>
  label(
    { class: 'field' },
    span(null, 'deviceIds'),
    textarea({
      name: OF.devices,
      rows: 6,
      required: true,
      spellcheck: false,
      placeholder: '490154203237518\n490154203237526',
    }),
    span({ class: 'hint' }, 'At most 10,000, separated by spaces, commas or lines.'),
  );

/**
 * The fields for conditions, all of which the devices must match. A rollout of a version is at first for all devices that
 * have not got it.
 */
export const matchFields = ({ operation, package: name = '', version = '', ...known }: Known): Child => {
  const isFirmware = operation === 'updateFirmware';
  const isSoftware = !isFirmware && version !== '';
  /** The value that the address of the page gives, as the list of devices does. */
  const value = (field: string, otherwise = ''): string => known[field] ?? otherwise;
  const row = (...fields: Child[]): Child => div({ class: 'fields even' }, fields);
  return [
    row(
      textField({
        name: OF.tags,
        label: 'Tags',
        value: value(OF.tags),
        hint: 'As site=osaka, !old. Of several values of a key one is enough.',
      }),
      choice({ name: OF.connected, label: 'Connection', value: value(OF.connected) }, [
        ['', 'any'],
        ['true', 'connected now'],
        ['false', 'not connected now'],
      ]),
      choice({ name: OF.seenWithin, label: 'Seen within' }, SEEN),
    ),
    row(
      textField({
        name: OF.package,
        label: 'Package',
        value: value(OF.package, isFirmware ? '' : name),
        hint: 'Of the installed software.',
      }),
      choice(
        {
          name: OF.versionIs,
          label: 'Condition for its version',
          value: value(OF.versionIs, isSoftware ? 'versionNot' : ''),
        },
        condition('version', 'version'),
      ),
      textField({
        name: OF.version,
        label: 'Version of the package',
        value: value(OF.version, isSoftware ? version : ''),
        hint: 'A range as >=1.2.0 <2.0.0.',
      }),
    ),
    row(
      choice(
        {
          name: OF.firmwareIs,
          label: 'Condition for the firmware',
          value: value(OF.firmwareIs, isFirmware ? 'firmwareVersionNot' : ''),
        },
        condition('firmware', 'firmwareVersion'),
      ),
      textField({
        name: OF.firmware,
        label: 'Firmware version',
        value: value(OF.firmware, isFirmware ? version : ''),
      }),
      textField({ name: OF.lang, label: 'Language', hint: 'As ja-JP.' }),
    ),
    row(
      textField({ name: OF.battery, label: 'Battery at least, in %' }, whole(0, 100)),
      choice({ name: OF.charging, label: 'Charging' }, [
        ['', 'any'],
        ['true', 'being charged'],
        ['false', 'not being charged'],
      ]),
      textField({ name: OF.network, label: 'Type of network', hint: 'As wifi.' }, { maxLength: 64 }),
      textField({ name: OF.storage, label: 'Free storage at least, in MiB' }, whole(0, 1_000_000_000)),
    ),
    row(
      textField({
        name: OF.rollout,
        label: 'Devices of the rollout',
        value: value(OF.rollout),
        hint: 'Its rolloutId.',
      }),
      choice({ name: OF.memberState, label: 'In the state', value: value(OF.memberState) }, [
        ['', 'any'] as const,
        ...MEMBER_STATES.map((state) => [state, state] as const),
      ]),
    ),
    row(
      textField(
        { name: OF.percent, label: 'Share of them, in %', hint: 'Always the same devices with the same salt.' },
        whole(0, 100),
      ),
      textField({ name: OF.salt, label: 'Salt of the share' }, { maxLength: 64 }),
    ),
  ];
};
