import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { endpointName, events } from '../base/endpoint-words.ts';
import { readEndpoint } from '../base/endpoints.ts';
import { visible } from '../base/format.ts';
import { addressOf } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import type { Endpoint } from '../base/rows.ts';
import { askForChange } from '../parts/change.ts';
import { act, ask } from '../parts/dialog.ts';
import { NEW_TERMS, readTerms, schemeField, termsFields } from '../parts/endpoint-fields.ts';
import { choice } from '../parts/fields.ts';
import { showPublicKey, showSecret } from '../parts/secret.ts';

type Done = () => void;

const nameOf = (endpoint: Pick<Endpoint, 'description' | 'url'>): string => visible(endpointName(endpoint));

/** Shows the secret of an endpoint, which is shown once, or the public half of its key pair. */
async function showKey(response: Response): Promise<void> {
  const made = (await response.json()) as SchemaTypes['rest/endpoint-created'];
  const heading = `The ${made.secret === null ? 'public key' : 'secret'} of ${nameOf(made)}`;
  const about = 'Your receiver verifies with it that an event comes from this service.';
  if (made.secret !== null) showSecret(heading, `${about} It is shown only now, and never again.`, made.secret);
  else showPublicKey(heading, `${about} The page of the endpoint shows it, too.`, made.publicKeys[0]?.publicKey ?? '');
}

export function addEndpoint(done: Done): void {
  ask({
    title: 'Add an endpoint',
    text: 'It gets the events that come from now on. A replay sends it older ones.',
    fields: [...termsFields(NEW_TERMS), schemeField()],
    does: 'Add',
    async act(data) {
      const json = { ...readTerms(data), signatures: [data.get('signatures')] };
      const response = await send(operation('createEndpoint'), { json });
      done();
      await showKey(response);
      return undefined;
    },
  });
}

export function changeEndpoint({ endpointId }: Endpoint, done: Done): void {
  act(async () => {
    const seen = await readEndpoint(endpointId);
    askForChange<Endpoint>({
      title: `Change ${nameOf(seen.value)}`,
      seen,
      fields: termsFields,
      does: 'Change',
      async send(data, { value, tag }) {
        const wanted = readTerms(data);
        const changed = Object.entries(wanted).filter(
          ([name, one]) => JSON.stringify(one) !== JSON.stringify(value[name as keyof typeof wanted]),
        );
        if (changed.length === 0) return false;
        await send(operation('updateEndpoint', { endpointId }), { json: Object.fromEntries(changed), ifMatch: tag });
        done();
        return true;
      },
      read: () => readEndpoint(endpointId),
      shown: ({ url, description, types, ordered, ratePerSecond, enabled }) => ({
        URL: url,
        Description: description,
        Types: types.join(', '),
        Order: ordered,
        'Events a second': ratePerSecond,
        Enabled: enabled ? 'yes' : 'no',
      }),
      done: () => 'The endpoint was changed.',
    });
    return undefined;
  });
}

export function disableEndpoint(endpoint: Endpoint, done: Done): void {
  ask({
    title: `Disable ${nameOf(endpoint)}?`,
    text: 'Nothing is sent to it until somebody enables it again. Its events wait, as long as events are kept.',
    does: 'Disable',
    async act() {
      await send(operation('updateEndpoint', { endpointId: endpoint.endpointId }), { json: { enabled: false } });
      done();
      return 'The endpoint is disabled.';
    },
  });
}

export function enableEndpoint(endpoint: Endpoint, done: Done): void {
  const { behind, pending, blocked } = endpoint.state;
  const before = pending + blocked;
  const came = `${events(behind)} for it ${behind === 1 ? 'has' : 'have'} come since it took its last one`;
  const waiting = before === 0 ? '' : ` ${events(before)} ${before === 1 ? 'waits' : 'wait'} from before.`;
  ask({
    title: `Enable ${nameOf(endpoint)}?`,
    text: `${came}.${waiting}`,
    fields: choice(
      { name: 'missed', label: 'What it missed' },
      [
        ['', 'Choose'],
        ['send', 'send it, the oldest first'],
        ['skip', 'skip it: only events from now on are sent'],
      ],
      { required: true },
    ),
    does: 'Enable',
    async act(data) {
      const json = { enabled: true, missed: data.get('missed') };
      await send(operation('updateEndpoint', { endpointId: endpoint.endpointId }), { json });
      done();
      return 'The endpoint is enabled.';
    },
  });
}

export function replaceKey(endpoint: Endpoint, done: Done): void {
  ask({
    title: `Make a new secret for ${nameOf(endpoint)}?`,
    text: 'For 24 hours its events are signed with the former one as well, so that your receiver can change over without a gap.',
    fields: schemeField(endpoint.signatures[0]),
    does: 'Make it',
    async act(data) {
      const { endpointId } = endpoint;
      const json = { signatures: [data.get('signatures')] };
      const response = await send(operation('replaceEndpointSecret', { endpointId }), { json });
      done();
      await showKey(response);
      return undefined;
    },
  });
}

export function removeEndpoint(endpoint: Endpoint): void {
  ask({
    title: `Remove ${nameOf(endpoint)}?`,
    text: 'What it has not got is not sent to it any more, and the list of its deliveries goes. The events stay in the stream.',
    does: 'Remove',
    isBad: true,
    async act(_, go) {
      await send(operation('deleteEndpoint', { endpointId: endpoint.endpointId }));
      go(addressOf(['endpoints']));
      return 'The endpoint was removed.';
    },
  });
}

interface Skipped {
  sequence: number;
  type?: string | undefined;
  deviceId: string | null;
  /** `blocked`: it waits itself for an earlier event of its device. */
  status: 'pending' | 'blocked';
  /** How many later events of the device wait for it, where that is known. */
  waiting?: number;
}

/** Asks whether an event is given up, and says what happens then. */
export function skipEvent(
  endpoint: Endpoint,
  { sequence, type, deviceId, status, waiting }: Skipped,
  done: Done,
): void {
  const event = `Event ${sequence}${type === undefined ? '' : ` (${visible(type)})`}`;
  const of = deviceId === null ? '' : ` of device ${visible(deviceId)}`;
  const goesOn = endpoint.enabled && endpoint.ordered === 'device' && status === 'pending' && deviceId !== null;
  const one = waiting === 1;
  const behind = !goesOn
    ? ''
    : waiting === undefined
      ? ' Then the events of its device that wait for it are sent, in order.'
      : ` Then the ${events(waiting)} of this device that ${one ? 'waits' : 'wait'} for it ${one ? 'is sent' : 'are sent, in order'}.`;
  ask({
    title: 'Skip this event?',
    text: `${event}${of} is not sent to ${nameOf(endpoint)} any more.${behind} The skipped event stays in the stream, and a replay sends it all the same.`,
    does: 'Skip this event',
    isBad: true,
    async act() {
      await send(operation('skipEndpointDelivery', { endpointId: endpoint.endpointId, sequence }));
      done();
      return `${event} was skipped.`;
    },
  });
}
