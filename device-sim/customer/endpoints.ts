import type { LapelClient } from '@lapel/client/lapel-client';
import type { Look } from '../promises/looks.ts';
import { eventOf } from './came-event.ts';
import { genuineByPublicKey, genuineWebhook } from './genuine.ts';
import type { EndpointProgram } from './program.ts';
import type { ProgramBook } from './program-book.ts';
import type { Receiver } from './receiver.ts';
import type { Requests } from './requests.ts';

/** The description of an endpoint of a run, by which a later run knows it if this one is killed. */
const descriptionOf = ({ name }: EndpointProgram): string => `lapel-sim: ${name}`;

/** The state of an endpoint, as the service tells it. */
interface EndpointState {
  readonly enabled: boolean;
  /** The events up to this number that it has not got are no longer owed. */
  readonly passedOver: number;
  readonly behind: number;
  readonly pending: number;
  readonly blocked: number;
  readonly isFailing: boolean;
}

/** The endpoints of the customer, with receivers behind them. */
export interface CustomerEndpoints {
  start(receiver: Pick<Receiver, 'endpointUrl' | 'receiveFor'>): Promise<void>;
  /** The state of an endpoint; undefined if the service does not answer. */
  state(name: string): Promise<EndpointState | undefined>;
  /** Lets the service send at once what waits for its next attempt, as a customer does after an outage. */
  hasten(name: string): Promise<void>;
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

  return {
    async start(receiver) {
      if (programs.length > 0) await removeFormer();
      for (const program of programs) await make(program, receiver);
    },
    async state(name) {
      const endpointId = ids.get(name) ?? '';
      const found = await requests.insist(() => lapel.readEndpoint({ endpointId })).catch(() => undefined);
      if (!found) return undefined;
      const { enabled, passedOver, failingSince, state } = found;
      const { behind, pending, blocked } = state;
      return { enabled, passedOver, behind, pending, blocked, isFailing: failingSince !== null };
    },
    async hasten(name) {
      const endpointId = ids.get(name) ?? '';
      await requests.insist(() => lapel.updateEndpoint({ endpointId, body: { enabled: false } }));
      await requests.insist(() => lapel.updateEndpoint({ endpointId, body: { enabled: true, missed: 'send' } }));
    },
    async remove() {
      for (const endpointId of ids.values()) await lapel.deleteEndpoint({ endpointId }).catch(() => undefined);
      ids.clear();
    },
  };
}
