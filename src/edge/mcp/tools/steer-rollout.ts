import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { inTwoSteps, PROPOSAL } from '../proposal.ts';
import { type Session, Unanswered } from '../session.ts';
import { tool } from '../tool.ts';
import { countsOf } from './rollout-words.ts';
import { ROLLOUT } from './rollouts.ts';

type Rollout = SchemaTypes['common/rollout'];
type DryRun = SchemaTypes['rest/rollout-dry-run'];

interface Given {
  rolloutId: string;
  proposal?: string;
}

const PAUSE = 'pause_rollout';
const APPROVE = 'approve_rollout';
const START = 'start_rollout';

async function permitted(session: Session, rolloutId: string, order: 'pause' | 'approve'): Promise<Rollout> {
  const found = await session.ask<Rollout>('readRollout', { params: { rolloutId } });
  if (found.permits.includes(order)) return found;
  throw new Unanswered(
    `Refused, nothing was changed: the rollout is ${found.state} in stage ${found.stage} and does not permit ${order}. It permits: ${found.permits.join(', ') || 'nothing'}.`,
  );
}

const named = ({ label, operation, subject }: Rollout): string =>
  `${data(label, 80)} (${operation}${subject === null ? '' : ` ${data(subject, 100)}`})`;

export const pauseRollout = tool<Given>({
  name: PAUSE,
  title: 'Pause a rollout',
  description:
    'Pause, stop or hold a rollout, so that no further device gets its command. Two calls: the first proposes, the second confirms.',
  writes: 'svc:device:write',
  properties: { rolloutId: ROLLOUT, proposal: PROPOSAL },
  required: ['rolloutId'],
  run: (session, { proposal, ...given }, report) =>
    inTwoSteps(session, report, {
      tool: PAUSE,
      given,
      proposal,
      what: `pause the rollout ${given.rolloutId}`,
      async look() {
        const found = await permitted(session, given.rolloutId, 'pause');
        const lines = [
          `${named(found)}: ${countsOf(found.counts)}.`,
          'Commands that devices have already are carried out.',
        ];
        return { effect: { devices: found.devices, stage: found.stage }, lines };
      },
      async act() {
        const params = { rolloutId: given.rolloutId };
        const { state, counts } = await session.ask<Rollout>('pauseRollout', {
          params,
          via: { assistant: session.assistant, tool: PAUSE },
        });
        return [
          `Done: the rollout is ${state}; ${countsOf(counts)}.`,
          `Console: ${session.link('rollouts', given.rolloutId)}`,
        ];
      },
    }),
});

export const approveRollout = tool<Given>({
  name: APPROVE,
  title: 'Approve the present stage of a rollout',
  description:
    'Approve the present stage of a rollout, so that the next stage begins. Two calls: the first proposes, the second confirms.',
  writes: 'svc:device:write',
  properties: { rolloutId: ROLLOUT, proposal: PROPOSAL },
  required: ['rolloutId'],
  run: (session, { proposal, ...given }, report) =>
    inTwoSteps(session, report, {
      tool: APPROVE,
      given,
      proposal,
      what: `approve the present stage of the rollout ${given.rolloutId}`,
      async look() {
        const found = await permitted(session, given.rolloutId, 'approve');
        const [present, next] = [found.stages[found.stage - 1], found.stages[found.stage]];
        const { succeeded = 0, failed = 0 } = present?.counts ?? {};
        return {
          effect: { stage: found.stage, devicesOfNextStage: next?.planned ?? 0, succeeded, failed },
          lines: [
            `${named(found)}.`,
            present?.verdict ? `Verdict: ${JSON.stringify(present.verdict.measures)}.` : null,
          ],
          tag: present?.verdictTag ?? null,
          stage: found.stage,
        };
      },
      async act({ tag, stage }) {
        const { state } = await session.ask<Rollout>('approveRollout', {
          params: { rolloutId: given.rolloutId },
          body: { stage },
          ...(tag !== null && { headers: { 'if-match': tag } }),
          via: { assistant: session.assistant, tool: APPROVE },
        });
        return [
          `Done: stage ${stage} is approved; the rollout is ${state}.`,
          `Console: ${session.link('rollouts', given.rolloutId)}`,
        ];
      },
    }),
});

/** Operations whose parameters have passwords, which must not go through an assistant. */
const WITH_PASSWORDS: readonly unknown[] = ['setWifi', 'setApn'];

export const startRollout = tool<{ rollout: Record<string, unknown>; proposal?: string }>({
  name: START,
  title: 'What would a rollout do, and start it',
  description:
    'Start a rollout (release of software, firmware or a setting to many devices); first a dry run: what would it do, how many devices and stages, which versions do they have, which warnings, does it overlap with another? Two calls: the first proposes, the second confirms.',
  writes: 'svc:device:write',
  properties: {
    rollout: {
      type: 'object',
      required: ['operation', 'parameters', 'devices'],
      description:
        'As the body of the API: operation (installSoftware, updateFirmware, setLanguage, ...), parameters ({"package","version"}), devices (selector), and stages, abort, health, label and so on: read_document page=rollouts.',
    },
    proposal: PROPOSAL,
  },
  required: ['rollout'],
  async run(session, { proposal, rollout }, report) {
    if (WITH_PASSWORDS.includes(rollout['operation'])) {
      throw new Unanswered(
        'Refused: the parameters of this operation have passwords, which must not go through an assistant. Use the console.',
      );
    }
    const { dryRun: _, ...body } = rollout;
    const via = { assistant: session.assistant, tool: START };
    await inTwoSteps(session, report, {
      tool: START,
      given: { rollout: body },
      proposal,
      what: `start a rollout of ${data(String(body['operation']), 40)} ${data(JSON.stringify(body['parameters']), 160)}`,
      async look() {
        const run = await session.ask<DryRun>('startRollout', { body: { ...body, dryRun: true }, via });
        const counts = (some: DryRun['firmwareVersions']): string =>
          some
            .slice(0, 8)
            .map(({ version, devices }) => `${data(version, 40)} ${devices}`)
            .join(', ');
        return {
          effect: { devices: run.devices, stages: run.stages.length, devicesOfFirstStage: run.stages[0] ?? 0 },
          lines: [
            `${run.connected} of the devices are connected now. Stages: ${run.stages.join(', ')} devices.`,
            run.maxUnfinished !== undefined && `At most ${run.maxUnfinished} devices carry it out at a time.`,
            run.versions ? `Installed now: ${counts(run.versions)}.` : null,
            `By firmware: ${counts(run.firmwareVersions)}.`,
            ...run.overlaps.map(
              ({ rolloutId, label, state, devices }) =>
                `Overlap: ${devices} devices are also in ${rolloutId} ${data(label, 60)} (${state}).`,
            ),
            ...run.warnings.map(({ code, message }) => `Warning ${code}: ${message}`),
          ],
        };
      },
      async act(__, key) {
        const made = await session.ask<SchemaTypes['rest/rollout-created']>('startRollout', {
          body,
          headers: { 'idempotency-key': key },
          via,
        });
        return [
          `Done: the rollout ${made.rolloutId} has ${made.devices} devices.`,
          `Console: ${session.link('rollouts', made.rolloutId)}`,
        ];
      },
    });
  },
});
