import { button, div, dl, use } from '../base/elements.ts';
import { readEndpointDeliveries } from '../base/endpoints.ts';
import { useEvery } from '../base/every.ts';
import { useLoad } from '../base/load.ts';
import { operation, send } from '../base/requests.ts';
import type { Endpoint } from '../base/rows.ts';
import { deliveryBadge } from '../parts/badges.ts';
import { lastAnswer } from '../parts/delivery-rows.ts';
import { act, close, open, title } from '../parts/dialog.ts';
import { loaded } from '../parts/loaded.ts';
import { fact, id, outside, said } from '../parts/show.ts';

/** Milliseconds between two looks at a test event that has no answer yet. */
const LOOK_MS = 1_000;
/** The newest deliveries, among which the test event is. */
const LIMIT = 100;

interface Sent {
  endpoint: Endpoint;
  eventId: string;
}

function Answer({ endpoint: { endpointId, url }, eventId }: Sent) {
  const delivery = useLoad(`test ${eventId}`, async (signal) => {
    const { rows } = await readEndpointDeliveries(endpointId, { limit: LIMIT }, signal);
    return rows.find((row) => row.eventId === eventId) ?? null;
  });
  const { value: row } = delivery.state.value;
  const isWaiting = !row || (row.status === 'pending' && row.attempts === 0);
  useEvery(isWaiting ? LOOK_MS : undefined, delivery.again);
  return div(
    { class: 'stack' },
    title('Test of the endpoint'),
    loaded(delivery, (found) =>
      dl(
        { class: 'facts' },
        fact('State', found === null ? 'not there yet ...' : deliveryBadge(found.status)),
        fact('URL', outside(url)),
        fact(
          'Answer',
          found === null || isWaiting
            ? 'not there yet ...'
            : found.status === 'delivered'
              ? 'accepted'
              : said(lastAnswer(found)),
        ),
        fact('Event', id(eventId)),
      ),
    ),
    div({ class: 'ends' }, button({ type: 'button', class: 'main', onClick: close }, 'Close')),
  );
}

/** Sends a test event to an endpoint, and shows the answer when it comes. */
export const testEndpoint = (endpoint: Endpoint, done: () => void): void =>
  act(async () => {
    const response = await send(operation('testEndpoint', { endpointId: endpoint.endpointId }));
    const { eventId } = (await response.json()) as { eventId: string };
    open(use(Answer, { endpoint, eventId }));
    done();
    return undefined;
  });
