import t from 'tap';
import type { WebhookEvent } from '../../src/core/webhooks/delivery.ts';
import { createNotices } from '../../src/core/webhooks/notices.ts';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';

t.test('the subject of a notice is one line, whatever the description of its endpoint is', (t) => {
  const events: WebhookEvent[] = [];
  const notices = createNotices({
    clock: { now: () => 0 },
    findApplication: () => Promise.reject(new Error('not needed')),
    record: (_, event) => events.push(event),
  });
  const description = 'Billing\r\nBcc: all@example.com\u2028\u0000';
  for (const type of ['endpoint.failing', 'endpoint.recovered', 'endpoint.disabled'] as const)
    notices.send({} as UnitOfWork, null, type, {
      applicationId: 'patrol',
      name: { endpointId: 'ep_1', description },
      since: 0,
      statusCode: 500,
      error: 'answered 500',
    });
  for (const { data } of events) {
    const { subject, text } = data as { subject: string; text: string };
    t.notMatch(subject, /[\p{Cc}\u2028\u2029]/u);
    t.notMatch(text, /[\p{Cc}\u2028\u2029]/u);
    t.match(subject, /“Billing Bcc: all@example.com” \(ep_1\)/);
    t.equal((data as { description: string }).description, description, 'as it was given');
  }
  t.equal(events.length, 3);
  t.end();
});
