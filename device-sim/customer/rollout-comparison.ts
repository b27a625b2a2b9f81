import type { Look } from '../promises/looks.ts';
import { OF_THE_SERVICE } from './contents.ts';
import type { Entry } from './entry.ts';
import { wrongPauses } from './rollout-abort.ts';
import { wrongStages } from './rollout-advance.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import type {
  KnownRollout,
  RolloutDetails,
  RolloutDevice,
  RolloutDifference,
  RolloutSnapshot,
  RolloutTransactionRow,
} from './rollout-snapshot.ts';

const NO_DEVICE = '';
const STATES = [
  'waiting',
  'unfinished',
  'confirming',
  'succeeded',
  'failed',
  'cancelled',
  'unchanged',
  'refused',
] as const;
/** The codes of devices that have succeeded and were not seen again, or not with the version. */
const NOT_CONFIRMED = ['SILENT', 'VERSION_LOST'];
/** The code of a device whose command is not published, because as many devices as may be are carrying one out. */
const NO_PLACE = 'NO_PLACE';
/** The code of a device that a newer rollout of the same kind has commanded. */
const SUPERSEDED = 'SUPERSEDED';
/** The service counts rare codes of a rollout with very many of them together under this name. */
const OTHER = 'OTHER';

const countsOf = (devices: readonly RolloutDevice[]): RolloutDetails['counts'] =>
  Object.fromEntries(
    STATES.map((state) => [state, devices.filter((one) => one.state === state).length]),
  ) as unknown as RolloutDetails['counts'];

const told = (counts: RolloutDetails['counts']): string =>
  STATES.flatMap((state) => (counts[state] > 0 ? `${counts[state]} ${state}` : [])).join(', ') || 'no devices';

/**
 * Compares the counts that the service shows, of all stages and of each, with its own list of devices. The story is that
 * of a device in a state that the service lists more often than it counts it.
 */
function wrongCounts({ rollout, devices }: RolloutSnapshot, { devicesStay }: KnownRollout): RolloutDifference[] {
  if (!devicesStay) return [];
  const all = { name: 'it', shown: rollout.counts, those: devices };
  const ofStages = rollout.stages.map(({ counts }, index) => {
    const those = devices.filter(({ stage }) => stage === index + 1);
    return { name: `stage ${index + 1}`, shown: counts, those };
  });
  return [all, ...ofStages].flatMap(({ name, shown, those }) => {
    const listed = countsOf(those);
    if (told(shown) === told(listed)) return [];
    const { deviceId = NO_DEVICE } = those.find(({ state }) => listed[state] > shown[state]) ?? {};
    return [{ deviceId, text: `the service counts ${told(shown)} for ${name}, and lists ${told(listed)}` }];
  });
}

/** Compares the devices of a rollout with those that it must have. */
function wrongMembers(
  { rollout, devices }: RolloutSnapshot,
  { plan, devices: begun, members, devicesStay }: KnownRollout,
): RolloutDifference[] {
  if (!devicesStay) return [];
  const listed = new Set(devices.map(({ deviceId }) => deviceId));
  const whole = (text: string): RolloutDifference => ({ deviceId: NO_DEVICE, text });
  const missing = [...(members?.must ?? [])].filter((deviceId) => !listed.has(deviceId));
  const strange = [...listed].filter((deviceId) => members?.mustNot.has(deviceId));
  return [
    ...missing.map((deviceId) => ({ deviceId, text: 'the selector matches this device, which is not in the rollout' })),
    ...strange.map((deviceId) => ({
      deviceId,
      text: 'the device is in the rollout, and the selector does not match it',
    })),
    ...(listed.size < devices.length ? [whole('the service lists a device twice')] : []),
    ...(rollout.devices === devices.length
      ? []
      : [whole(`it has ${rollout.devices} devices, and the service lists ${devices.length}`)]),
    ...(plan.body.continuous || rollout.devices === begun
      ? []
      : [whole(`it began with ${begun} devices and has ${rollout.devices}`)]),
  ];
}

/** Compares the number of devices that may be carrying out a command with the bound of the rollout. */
function wrongPlaces({ rollout, devices }: RolloutSnapshot): RolloutDifference[] {
  const most = rollout.rules.maxUnfinished;
  const under = devices.filter(({ state, code }) => state === 'unfinished' && code !== NO_PLACE);
  if (most === undefined || under.length <= most) return [];
  const text = `${under.length} devices are carrying out a command, and ${most} may`;
  return [{ deviceId: under[0]?.deviceId ?? NO_DEVICE, text }];
}

const resultOf = ({ result }: Readonly<Entry>): string =>
  result ? `${result.status}${result.code === null ? '' : ` ${result.code}`}` : 'no result';

/** Whether a device with this result may get another command. */
function maySucceed({ result }: Readonly<Entry>, { body }: RolloutPlan): boolean {
  if (result?.status !== 'failed') return false;
  return OF_THE_SERVICE.has(result.code ?? '') || (body.retry?.codes ?? []).includes(result.code ?? '');
}

/** Compares the state of a device in the rollout with its transactions, the oldest first. */
function wrongDevice(
  { deviceId, state, transactionId, code }: RolloutDevice,
  own: readonly Readonly<Entry>[],
  { plan, devicesStay }: KnownRollout,
): RolloutDifference[] {
  const differs = (text: string, about = transactionId ?? undefined): RolloutDifference[] => [
    { deviceId, text, ...(about !== undefined && { transactionId: about }) },
  ];
  const counted = own.filter(({ result }) => result);
  const ends = counted.filter((entry) => !maySucceed(entry, plan));
  if (ends.length > 1)
    return differs(
      `the device got ${ends.length} commands with a final result: ${ends.map((entry) => `transaction ${entry.transactionId} ${resultOf(entry)}`).join(', ')}`,
      ends.at(-1)?.transactionId,
    );
  const latest = own.find((entry) => entry.transactionId === transactionId);
  const [end] = ends;
  if (state === 'unchanged' || state === 'refused') {
    // It may have reported the wanted state after its latest command has ended without an answer, and is to be tried again.
    const got = (latest ? [latest] : own).find(
      (entry) => entry.deliveredAt !== null && !(maySucceed(entry, plan) && entry.answer !== 'succeeded'),
    );
    const reached = got ?? end;
    return reached && state === 'unchanged'
      ? differs('the device is unchanged there, and a command has reached it', reached.transactionId)
      : [];
  }
  if (state === 'waiting')
    return end
      ? differs(`the device waits there, and the customer got its result: ${resultOf(end)}`, end.transactionId)
      : [];
  const isConfirming = state === 'confirming' || (state === 'failed' && NOT_CONFIRMED.includes(code ?? ''));
  if (isConfirming && plan.body.confirm)
    // A late success of a command that the service had ended counts as well.
    return latest?.result && resultOf(latest) !== 'succeeded' && latest.answer !== 'succeeded'
      ? differs(`the device is ${state} there, and the customer got its result: ${resultOf(latest)}`)
      : [];
  if (state === 'unfinished' && code === NO_PLACE && (latest?.deliveredAt ?? null) !== null)
    return differs('the device waits for a place there, and it got its command');
  if (state === 'unfinished')
    return latest?.result
      ? differs(`the device is unfinished there, and the customer got its result: ${resultOf(latest)}`)
      : [];
  if (state === 'cancelled' && !latest)
    return end ? differs(`the device is cancelled there, and had ${resultOf(end)}`) : [];
  if (!latest) return differs(`the device is ${state} there, with a transaction that no list has`);
  const hasSucceeded = [latest.answer, latest.result?.status].includes('succeeded');
  // Nobody can confirm the success of a device that was deactivated meanwhile.
  if (state === 'cancelled' && plan.body.confirm && hasSucceeded && !devicesStay) return [];
  // It waited for another attempt when the rollout was cancelled.
  if (state === 'cancelled' && (code === SUPERSEDED || maySucceed(latest, plan))) return [];
  if (!latest.result) return []; // the settling decides whether the result is lost
  // The service had ended the transaction, and the device had carried out the command all the same: that counts.
  if (state === 'succeeded' && latest.answer === state) return [];
  const isSame = latest.result.status === state && (state !== 'failed' || [latest.result.code, OTHER].includes(code));
  return isSame
    ? []
    : differs(
        `the device is ${state}${code === null ? '' : ` ${code}`} there, and the customer got its result: ${resultOf(latest)}`,
      );
}

/** Compares the transactions that the service lists for a rollout with those of the customer. */
function wrongTransactions(
  rows: readonly RolloutTransactionRow[],
  known: ReadonlyMap<number, Readonly<Entry>>,
): RolloutDifference[] {
  const listed = new Map(rows.map((row) => [row.transactionId, row]));
  return [...known.values()].flatMap((entry) => {
    const { transactionId, deviceId, result } = entry;
    const row = listed.get(transactionId);
    const about = { deviceId, transactionId };
    if (!row)
      return result
        ? [{ ...about, text: `the service does not list transaction ${transactionId} for the rollout` }]
        : [];
    if (!result || row.status === result.status) return [];
    const text = `transaction ${transactionId} is ${row.status} in the list, and the customer got: ${resultOf(entry)}`;
    return [{ ...about, text }];
  });
}

const EVENTS: readonly string[] = ['stageStarted', 'paused', 'completed', 'cancelled'];
/** The history has at most so many entries; then older ones are missing. */
const MOST_HISTORY = 100;

/** Compares the webhooks about a rollout with its history: each entry must have one webhook, and no webhook more. */
function wrongEvents({ rollout: { history } }: RolloutSnapshot, { events, pending }: KnownRollout): string[] {
  if (history.length >= MOST_HISTORY) return [];
  const nameOf = (event: string, stage: number | null, reason: string | null): string =>
    event === 'stageStarted' ? `${event} ${stage}` : reason === null ? event : `${event} ${reason}`;
  const wanted = history
    .filter(({ event }) => EVENTS.includes(event))
    .map(({ event, stage, reason }) => nameOf(event, stage, reason));
  const came = events.map(({ type, stage, reason }) => nameOf(type.replace('rollout.', ''), stage, reason));
  const times = (all: readonly string[], name: string): number => all.filter((one) => one === name).length;
  return [...new Set([...wanted, ...came])].flatMap((name) => {
    const [should, did] = [times(wanted, name), times(came, name)];
    if (did === should || (did < should && pending)) return [];
    return [`the history has ${name} ${should} times, and ${did} webhooks about it arrived`];
  });
}

/** The sentences in which the service and the books of the customer do not agree about a rollout. */
export function rolloutDifferences(
  look: RolloutSnapshot,
  known: KnownRollout,
  hasLooked: Look = () => {},
): RolloutDifference[] {
  const { transactions } = known;
  const { devices, rollout } = look;
  if (known.devicesStay) hasLooked('rollout-counts', 1 + rollout.stages.length);
  if (known.devicesStay && known.members) hasLooked('rollout-members', devices.length);
  hasLooked('rollout-device', devices.filter(({ transactionId }) => transactionId !== null).length);
  hasLooked('rollout-transactions', transactions.size);
  hasLooked('rollout-events', rollout.history.length);
  const byDevice = Map.groupBy(transactions.values(), ({ deviceId }) => deviceId);
  return [
    ...wrongCounts(look, known),
    ...wrongEvents(look, known).map((text) => ({ deviceId: NO_DEVICE, text })),
    ...wrongPauses(look, known, hasLooked),
    ...wrongStages(look, known, hasLooked),
    ...wrongMembers(look, known),
    ...wrongPlaces(look),
    ...look.devices.flatMap((device) =>
      wrongDevice(
        device,
        (byDevice.get(device.deviceId) ?? []).toSorted((one, other) => one.transactionId - other.transactionId),
        known,
      ),
    ),
    ...wrongTransactions(look.transactions, transactions),
  ].map(({ text, ...about }) => ({ ...about, text: `rollout ${known.rolloutId}: ${text}` }));
}
