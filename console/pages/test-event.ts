import { useEffect } from 'preact/hooks';
import { a, button, div, dl, h3, p, use } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { DeliveryDetail } from '../base/rows.ts';
import { deliveryBadge } from '../parts/badges.ts';
import { lastAnswer } from '../parts/delivery-rows.ts';
import { act, close, open, title } from '../parts/dialog.ts';
import { json } from '../parts/json.ts';
import { loaded } from '../parts/loaded.ts';
import { fact, outside, said } from '../parts/show.ts';

/** Milliseconds between two looks at a test event that has no answer yet. */
const LOOK_MS = 1_000;

interface Sent {
  applicationId: string;
  setting: string;
  deliveryId: string;
  /** Called once: when there is an answer, or when the dialog is closed before. */
  answered(): void;
}

/** A request or an answer in the form of HTTP: its headers, one on each line. */
export const headerLines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function Answer({ applicationId, setting, deliveryId, answered }: Sent) {
  const delivery = useLoad(`test ${deliveryId}`, (signal) =>
    read<DeliveryDetail>(operation('readDelivery', { applicationId, deliveryId }), { signal }),
  );
  const { value: row } = delivery.state.value;
  const isWaiting = row === undefined || (row.status === 'pending' && row.attempts === 0);
  useEffect(() => (isWaiting ? answered : undefined), [isWaiting]);
  useEvery(isWaiting ? LOOK_MS : undefined, delivery.again);
  return div(
    { class: 'stack' },
    title(`Test of ${setting}`),
    loaded(delivery, (value) => {
      const failed = value.failedAttempts[0];
      const answer = value.answer ?? failed?.answer ?? null;
      return div(
        { class: 'stack' },
        dl(
          { class: 'facts' },
          fact('State', deliveryBadge(value.status)),
          fact('Receiver', outside(value.url)),
          fact('Answer', isWaiting ? 'not there yet ...' : said(lastAnswer(value))),
        ),
        isWaiting
          ? null
          : [
              h3({ key: 'answer' }, 'Answer'),
              answer === null || answer === '' ? p({ class: 'quiet' }, 'The answer has no body.') : json(answer),
              h3({ key: 'sent' }, 'Request'),
              json(headerLines(value.headers)),
              json(value.body),
            ],
      );
    }),
    div(
      { class: 'ends' },
      a({ class: 'button', href: addressOf(['webhooks', applicationId, deliveryId]) }, 'Show the delivery'),
      button({ type: 'button', class: 'main', onClick: close }, 'Close'),
    ),
  );
}

/** Sends a test event to a receiver, and shows the answer when it comes. */
export const sendTest = (applicationId: string, setting: string, answered = (): void => {}): void =>
  act(async () => {
    const test = { operator: 'testReceiver', application: 'sendTestEvent' } as const;
    const response = await send(operation(test, { applicationId }), { json: { setting } });
    const { deliveryId } = (await response.json()) as { deliveryId: string };
    open(use(Answer, { applicationId, setting, deliveryId, answered }));
    return undefined;
  });
