import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { readPage, showRows } from '../pages.ts';
import { CURSOR, TEXT, tool } from '../tool.ts';
import { rolloutLine, showRollout } from './rollout-words.ts';

type Row = SchemaTypes['common/rollout-row-list']['rollouts'][number];

export const STATES = { enum: ['scheduled', 'running', 'paused', 'completed', 'cancelled'] } as const;

export const rollouts = tool<{ state?: string; deviceId?: string; cursor?: string }>({
  name: 'rollouts',
  title: 'List rollouts',
  description:
    'List rollouts (releases to many devices), the newest first: which ones are running, paused, completed or cancelled, and which ones a device is in.',
  properties: {
    state: STATES,
    deviceId: { type: 'string', pattern: '^[0-9]{15}$', description: 'Only rollouts with this device.' },
    cursor: CURSOR,
  },
  async run(session, { cursor, ...query }, report) {
    const page = await readPage<Row>(session, 'listRollouts', {
      list: 'rollouts',
      cursor,
      query: { ...query, limit: 20 },
    });
    report.say(page.rows.length === 0 && 'No rollout is listed.', `Console: ${session.link('rollouts')}`);
    showRows(report, page, rolloutLine);
  },
});

export const ROLLOUT = TEXT('The rolloutId.', 64);

export const rollout = tool<{ rolloutId: string }>({
  name: 'rollout',
  title: 'How does this rollout stand?',
  description:
    'How does this rollout stand, why is it paused, when does it end, what does it wait for, and is its canary healthy against the control group? Shows stages, successes and failures by code, health rules, verdict, approvals, and its history with who did what.',
  properties: { rolloutId: ROLLOUT },
  required: ['rolloutId'],
  async run(session, { rolloutId }, report) {
    const found = await session.ask<SchemaTypes['common/rollout']>('readRollout', { params: { rolloutId } });
    showRollout(found, session.link('rollouts', rolloutId), report);
  },
});
