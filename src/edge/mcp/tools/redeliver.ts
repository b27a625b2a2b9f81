import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { inTwoSteps, PROPOSAL } from '../proposal.ts';
import { momentOf } from '../times.ts';
import { TEXT, tool, UNTIL } from '../tool.ts';
import { hostOf } from './webhooks.ts';

interface Given {
  deliveryId?: string;
  since?: string;
  until?: string;
  status?: string;
  setting?: string;
  proposal?: string;
}

const NAME = 'redeliver';

export const redeliver = tool<Given>({
  name: NAME,
  title: 'Send webhooks again',
  description:
    'Redeliver: send one webhook again, or all of a time range with a status (such as exhausted). Two calls: the first proposes, the second confirms.',
  writes: 'svc:application:write',
  properties: {
    deliveryId: TEXT('One delivery; otherwise the range of the other arguments.', 64),
    since: TEXT('Begin of the range: a date-time in UTC.', 40),
    until: UNTIL,
    status: { enum: ['delivered', 'exhausted', 'gone'], description: 'By default exhausted.' },
    setting: { enum: ['deviceEvent', 'callEvent', 'callFileSendEvent', 'fileUploadEvent'] },
    proposal: PROPOSAL,
  },
  async run(session, { proposal, ...given }, report) {
    const via = { assistant: session.assistant, tool: NAME };
    const { deliveryId } = given;
    if (deliveryId !== undefined) {
      const params = { deliveryId };
      await inTwoSteps(session, report, {
        tool: NAME,
        given,
        proposal,
        what: `send the webhook ${data(deliveryId, 64)} again`,
        async look() {
          const found = await session.ask<SchemaTypes['common/delivery-detail']>('readDelivery', { params });
          return {
            effect: { deliveries: 1, attemptsSoFar: found.attempts },
            lines: [`${data(found.type, 60)} to ${hostOf(found.url)} is ${found.status}.`],
          };
        },
        async act() {
          await session.ask('redeliver', { params, via });
          return [
            `Done: the webhook ${deliveryId} is sent again.`,
            `delivery with deliveryId=${deliveryId} says how it ends.`,
          ];
        },
      });
      return;
    }
    const { since, until, status = 'exhausted', setting } = given;
    const now = session.now();
    // A time back from now would be another one at the second call.
    const body = {
      status,
      ...(setting && { setting }),
      ...(since && { since: momentOf(since, now) }),
      ...(until && { until: momentOf(until, now, 'until') }),
    };
    await inTwoSteps(session, report, {
      tool: NAME,
      given: body,
      proposal,
      what: `send all webhooks with the status ${status} again`,
      async look() {
        const { redelivered } = await session.ask<SchemaTypes['rest/redelivered']>('redeliverRange', {
          body: { ...body, dryRun: true },
          via,
        });
        return { effect: { deliveries: redelivered }, lines: [] };
      },
      async act() {
        const { redelivered } = await session.ask<SchemaTypes['rest/redelivered']>('redeliverRange', { body, via });
        return [`Done: ${redelivered} webhooks are sent again.`, `Console: ${session.link('webhooks')}`];
      },
    });
  },
});
