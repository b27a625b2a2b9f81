import { a, type Child, p, use } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import { nameOf, reasonWords } from '../base/rollout-words.ts';
import type { DeviceRow, RolloutRow, TransactionRow } from '../base/rows.ts';
import { age, said } from './show.ts';

/** The most rollouts of a queue that are read. */
const MOST_ROLLOUTS = 5;

interface Waiting {
  device: Partial<Pick<DeviceRow, 'connected' | 'blocked' | 'lastSeenAt' | 'activation'>>;
  rows: readonly TransactionRow[];
}

/** The commands of paused rollouts in the queue: they wait for a person, whatever the device does. */
function Held({ rows }: Pick<Waiting, 'rows'>): Child {
  const rollouts = [...new Set(rows.flatMap(({ rolloutId }) => rolloutId ?? []))].slice(0, MOST_ROLLOUTS);
  const paused = useLoad(
    rollouts.join(),
    async (signal) => {
      const found = await Promise.all(
        rollouts.map((rolloutId) =>
          read<RolloutRow>(operation({ operator: 'readFleetRollout', application: 'readRollout' }, { rolloutId }), {
            signal,
          }),
        ),
      );
      return found.filter(({ state }) => state === 'paused');
    },
    { every: 15_000 },
  );
  return (paused.state.value.value ?? []).map((rollout) => {
    const many = rows.filter(({ rolloutId }) => rolloutId === rollout.rolloutId).length;
    return p(
      { key: rollout.rolloutId, class: 'pad' },
      `${counted(many, 'command')} of the rollout `,
      a({ href: addressOf(['rollouts', rollout.rolloutId]) }, said(nameOf(rollout))),
      ` ${many === 1 ? 'waits' : 'wait'}, because it is paused`,
      rollout.reason === null ? '.' : [': ', reasonWords(rollout.reason), '.'],
    );
  });
}

/** Why the queue of a device does not move, in a sentence; what is seen decides, and nothing else is said. */
function reasonOf({ device, rows }: Waiting): Child {
  const many = counted(rows.length, 'command');
  const [wait, they, have] = rows.length === 1 ? ['waits', 'It is', 'has'] : ['wait', 'They are', 'have'];
  if (device.blocked) return `${many} ${wait}: the device is blocked, so it cannot connect.`;
  if (device.connected === false)
    return device.lastSeenAt
      ? [`${many} ${wait} for the device, which is offline; it was seen last `, age(device.lastSeenAt), '.']
      : `${many} ${wait} for the device, which has never connected.`;
  const received = rows.filter(({ status }) => status !== 'queued').length;
  if (received > 0)
    return `The device is connected, has received ${counted(received, 'command')}, and has not answered yet.`;
  if (rows.every(({ attempts }) => attempts > 0))
    return `${many} ${have} been sent to the device, which is connected and has not acknowledged yet.`;
  return `The device is connected. ${they} sent in their order, as soon as it acknowledges those before.`;
}

/** Says above a queue why it waits. */
export const whyWaiting = (waiting: Waiting): Child => [
  waiting.device.connected === undefined && !waiting.device.blocked
    ? null
    : p({ class: 'pad', role: 'status' }, reasonOf(waiting)),
  waiting.rows.some(({ rolloutId }) => rolloutId !== undefined) ? use(Held, { rows: waiting.rows }) : null,
];
