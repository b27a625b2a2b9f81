import type { Fault } from '@lapel/schemas/contracts/errors';
import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { Common } from '../../platform/common.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Stream } from '../stream/stream.ts';
import { isEndpoint, type ReceiverName } from '../webhooks/delivery.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { type EndpointKey, type Released, receiverOf } from './endpoint.ts';
import { createEndpointAccess } from './endpoint-access.ts';
import { createEndpoints } from './endpoints.ts';
import { createFeeding } from './feeding.ts';
import { createEndpointReceiving } from './receiving.ts';
import { createReplays } from './replays.ts';

interface Parts {
  common: Common;
  stream: Pick<Stream, 'read' | 'wait'>;
  share: ReceiverShare;
  /** The sender of webhooks, which is made with these parts; called only while it runs. */
  webhooks(): Webhooks;
  /** Returns the reason why a webhook may not go to this URL; undefined when it may. */
  urlFault(url: string, name: string): Fault | undefined;
  /** Locks an application. Throws APPLICATION_UNREGISTERED. */
  lockApplication(unit: UnitOfWork, applicationId: string): Promise<unknown>;
}

/** Makes and connects the parts that send events to endpoints. */
export function createEndpointParts({ common, stream, share, webhooks, urlFault, lockApplication }: Parts) {
  const isMine = (one: ReceiverName): boolean => share.mine(share.partitionOf(one));
  const due = (receiver: ReceiverName): void => webhooks().due(receiver);
  const offer = (key: EndpointKey, deliveries: readonly Released[]): void => {
    for (const one of deliveries) webhooks().offer(receiverOf(key), one, one.dueAt);
  };
  const settled = (key: EndpointKey): void => webhooks().changed(receiverOf(key));
  const feeding = createFeeding({ ...common, stream, isMine, offer, due, settled });
  const receiving = createEndpointReceiving({
    ...common,
    notices: () => webhooks().notices,
    concluded: feeding.concluded,
    offer,
    due,
    heard: feeding.wake,
    takeUp: feeding.takeUp,
  });
  const changed = (endpoint: EndpointKey): void => {
    feeding.wake(endpoint);
    webhooks().changed(receiverOf(endpoint));
  };
  const access = createEndpointAccess({ ...common, lockApplication, changed });
  const managed = { ...common, access };
  return {
    feeding,
    receivers: receiving.receivers,
    endpoints: createEndpoints({ ...managed, urlFault, record: (unit, event) => webhooks().record(unit, event) }),
    replays: createReplays(managed),
    /** Where a receiver's webhooks go: to an endpoint, or as `ofSettings` says. */
    endpointOf:
      <Found>(
        ofSettings: (applicationId: string, setting: Exclude<ReceiverName['setting'], `ep_${string}`>) => Found,
      ) =>
      (applicationId: string, setting: ReceiverName['setting']) =>
        isEndpoint(setting) ? receiving.endpointOf(applicationId, setting) : ofSettings(applicationId, setting),
  };
}
