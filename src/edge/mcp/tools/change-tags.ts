import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { inTwoSteps, PROPOSAL } from '../proposal.ts';
import { Unanswered } from '../session.ts';
import { tool } from '../tool.ts';

type Tags = SchemaTypes['common/tags'];
type Tagged = SchemaTypes['rest/tagged'];

interface Given {
  deviceId?: string;
  devices?: Record<string, unknown>;
  tags: Record<string, string | null>;
  proposal?: string;
}

const NAME = 'change_tags';

export const changeTags = tool<Given>({
  name: NAME,
  title: 'Change tags',
  description:
    'Change, set, add or remove tags of one device, or of all devices that a selector matches. Two calls: the first proposes, the second confirms.',
  writes: 'svc:device:write',
  properties: {
    deviceId: { type: 'string', pattern: '^[0-9]{15}$', description: 'One device.' },
    devices: {
      type: 'object',
      description: 'A selector, as of a rollout, such as {"tags":{"site":"north"}}. Either this or deviceId.',
    },
    tags: {
      type: 'object',
      minProperties: 1,
      maxProperties: 32,
      additionalProperties: { type: ['string', 'null'], maxLength: 128 },
      description: 'The tags to set; null removes one.',
    },
    proposal: PROPOSAL,
  },
  required: ['tags'],
  async run(session, { proposal, ...given }, report) {
    const { deviceId, devices, tags } = given;
    if ((deviceId === undefined) === (devices === undefined)) throw new Unanswered('Give either deviceId or devices.');
    const via = { assistant: session.assistant, tool: NAME };
    const told = Object.entries(tags).map(([key, value]) =>
      value === null ? `remove ${data(key, 70)}` : `set ${data(`${key}=${value}`, 140)}`,
    );
    const what = told.join(', ');
    if (deviceId !== undefined) {
      const params = { deviceId };
      await inTwoSteps(session, report, {
        tool: NAME,
        given,
        proposal,
        what: `${what} at the device ${deviceId}`,
        async look() {
          const answer = await session.call('readTags', { params });
          if (answer.status >= 400) throw session.refused(answer);
          const own = answer.body as Tags;
          const changed = Object.entries(tags).filter(([key, value]) => (own[key] ?? null) !== value).length;
          return { effect: { devices: 1, changedTags: changed }, lines: [], etag: answer.headers['etag'] ?? '*' };
        },
        async act({ etag }) {
          await session.ask('updateTags', { params, body: tags, headers: { 'if-match': etag }, via });
          return [
            `Done: the tags of the device ${deviceId} are changed.`,
            `Console: ${session.link('devices', deviceId)}`,
          ];
        },
      });
      return;
    }
    await inTwoSteps(session, report, {
      tool: NAME,
      given,
      proposal,
      what: `${what} at all devices that match`,
      async look() {
        const body = { devices, tags, dryRun: true };
        const { matching, changed, refused } = await session.ask<Tagged>('updateTagsOfMany', { body });
        const lines = [refused > 0 && `${refused} of them would have too many tags, and stay as they are.`];
        return { effect: { devices: matching, changed }, lines };
      },
      async act() {
        const done = await session.ask<Tagged>('updateTagsOfMany', {
          body: { devices, tags },
          via,
        });
        return [
          `Done: ${done.matching} devices match, ${done.changed} were changed, ${done.refused} refused, because they would have too many tags.`,
        ];
      },
    });
  },
});
