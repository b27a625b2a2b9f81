import type { LapelClient } from '@lapel/client/lapel-client';
import type { Look } from '../promises/looks.ts';
import { eventOf } from './came-event.ts';
import { genuineByPublicKey, genuineWebhook } from './genuine.ts';
import type { EndpointProgram } from './program.ts';
import type { ProgramBook, Waiting } from './program-book.ts';
import type { Receiver } from './receiver.ts';
import type { Requests } from './requests.ts';

/** The description of an endpoint of a run, by which a later run knows it if this one is killed. */
const descriptionOf = ({ name }: EndpointProgram): string => `lapel-sim: ${name}`;

/** The most events of an endpoint that the service lets wait for their next attempt; further ones stay in the stream. */
const MOST_PENDING = 500;

/** Without an answer of the service nothing is known to wait. */
export const NOTHING_WAITS: Waiting = { includes: () => false, told: '' };

/** The endpoints of the customer, with receivers behind them. */
export interface CustomerEndpoints {
  start(receiver: Pick<Receiver, 'endpointUrl' | 'receiveFor'>): Promise<void>;
  /** The events of an endpoint that wait. */
  waiting(name: string): Promise<Waiting>;
  /** Removes the endpoints. */
  remove(): Promise<void>;
}

export function createEndpoints({
  programs,
  lapel,
  requests,
  book,
  look,
  now,
}: {
  programs: readonly EndpointProgram[];
  lapel: LapelClient;
  requests: Requests;
  book: ProgramBook;
  look: Look;
  now: () => number;
}): CustomerEndpoints {
  const ids = new Map<string, string>();

  async function make(program: EndpointProgram, receiver: Parameters<CustomerEndpoints['start']>[0]): Promise<void> {
    const { name, types, isOrdered, ratePerSecond, signatures } = program;
    const made = await requests.insist(() =>
      lapel.createEndpoint({
        body: {
          url: receiver.endpointUrl(name),
          types: [...types],
          ordered: isOrdered ? 'device' : 'none',
          ratePerSecond,
          signatures: [signatures],
          description: descriptionOf(program),
        },
      }),
    );
    const { endpointId, after, secret, publicKeys } = made;
    ids.set(name, endpointId);
    book.of(name).begin(after);
    const [key] = publicKeys;
    receiver.receiveFor(name, {
      verify(headers, body) {
        look('endpoint-signed');
        return key ? genuineByPublicKey(headers, body, key.jwk) : genuineWebhook(headers, body, secret ?? '');
      },
      onArrived: (received, isAnswered) => book.came(name, eventOf(received), now(), isAnswered),
    });
  }

  /** Removes endpoints of an earlier run with this application that was killed. */
  async function removeFormer(): Promise<void> {
    const own = new Set(programs.map(descriptionOf));
    const { endpoints } = await requests.insist(() => lapel.listEndpoints());
    for (const { endpointId, description } of endpoints)
      if (own.has(description)) await requests.insist(() => lapel.deleteEndpoint({ endpointId }));
  }

  async function readWaiting(endpointId: string): Promise<Waiting> {
    const query = { status: 'pending', limit: MOST_PENDING } as const;
    const { deliveries } = await requests.insist(() => lapel.listEndpointDeliveries({ endpointId, query }));
    const found = await requests.insist(() => lapel.readEndpoint({ endpointId }));
    const { enabled, after, passedOver, failingSince, ordered } = found;
    const { behind, pending, blocked } = found.state;
    const refused = new Set<number>();
    /** The first event of each device that was refused. */
    const first = new Map<string | null, number>();
    for (const { sequence, deviceId, attempts } of deliveries) {
      if (attempts === 0) continue;
      refused.add(sequence);
      first.set(deviceId, Math.min(sequence, first.get(deviceId) ?? sequence));
    }
    // A receiver that has refused five events in a row gets few, and others stay in the stream.
    const isHeld = failingSince !== null || refused.size >= MOST_PENDING;
    const isBehind = (sequence: number, deviceId: string): boolean =>
      ordered === 'device' && sequence > (first.get(deviceId) ?? Number.POSITIVE_INFINITY);
    return {
      includes: (sequence, deviceId) =>
        !enabled ||
        sequence <= passedOver ||
        refused.has(sequence) ||
        isBehind(sequence, deviceId) ||
        (isHeld && sequence > after),
      told: `; the service says that it has not taken ${behind}, that ${pending} wait for an attempt, and ${blocked} for another event`,
    };
  }

  return {
    async start(receiver) {
      if (programs.length > 0) await removeFormer();
      for (const program of programs) await make(program, receiver);
    },
    async waiting(name) {
      const endpointId = ids.get(name) ?? '';
      try {
        return await readWaiting(endpointId);
      } catch {
        return NOTHING_WAITS;
      }
    },
    async remove() {
      for (const endpointId of ids.values()) await lapel.deleteEndpoint({ endpointId }).catch(() => undefined);
      ids.clear();
    },
  };
}
