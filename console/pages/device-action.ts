import { conditionsOf, queryOf } from '../base/device-filter.ts';
import { a, button, type Child, div, dl, li, p, ul, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { count, counted, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, type Page, read, readPage, send } from '../base/requests.ts';
import type { ActionDevice, DeviceAction } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import {
  ACTION_NAMES,
  actionBadge,
  actionBar,
  actionLegend,
  actionWords,
  codeWords,
  whyStopped,
} from '../parts/action-rows.ts';
import { ask } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { card, fact, moment, nothing, said } from '../parts/show.ts';

/** Milliseconds between two reads while the action is at work. The feed does not report device actions. */
const READ_EVERY = 1_000;

/** The states of devices that were not changed as wanted, in the order in which they are saved. */
const NOT_DONE = ['refused', 'skipped', 'waiting'] as const satisfies readonly ActionDevice['state'][];
const CSV = ['deviceId', 'state', 'code', 'updatedAt'] as const satisfies readonly (keyof ActionDevice)[];

/** A page of all devices that were not changed. Its cursor has the number of the state, and the cursor in that list. */
async function notDone(actionId: string, cursor: string | undefined, signal: AbortSignal): Promise<Page<ActionDevice>> {
  const [number = '0', after] = (cursor ?? '0').split(':');
  const index = Number(number);
  const query = { state: NOT_DONE[index], after, limit: EXPORT_LIMIT };
  const page = await readPage<ActionDevice>(operation('listDevicesOfAction', { actionId }), 'devices', {
    query,
    signal,
  });
  if (page.next !== null) return { rows: page.rows, next: `${index}:${page.next}` };
  return { rows: page.rows, next: index + 1 < NOT_DONE.length ? String(index + 1) : null };
}

function stop({ actionId, counts }: DeviceAction, done: () => void): void {
  ask({
    title: 'Stop the action?',
    text: `${counted(counts.done, 'device')} changed so far stay changed. The others stay as they are. It cannot go on after this.`,
    does: 'Stop the action',
    async act() {
      await send(operation('stopDeviceAction', { actionId }));
      done();
      return 'The action is stopped.';
    },
  });
}

/** The values that the action sets, beside its name. */
function about({ tags, applicationId, force }: DeviceAction): Child[] {
  return [
    ...Object.entries(tags ?? {}).map(([key, value]) =>
      fact(`Tag ${visible(key)}`, value === null ? 'is removed' : said(value)),
    ),
    applicationId === undefined ? null : fact('To the application', named('applications', applicationId)),
    force === true ? fact('Activated devices', 'are deleted, too') : null,
  ];
}

function filterCard({ filter }: DeviceAction): VNode {
  const conditions = conditionsOf(filter);
  return card(
    {
      title: 'Which devices',
      bare: true,
      side: a({ class: 'button tiny', href: addressOf(['devices'], queryOf(filter)) }, 'Devices that match now'),
    },
    conditions.length === 0
      ? p({ class: 'pad' }, 'All devices of the service.')
      : dl(
          { class: 'facts' },
          conditions.map(([name, value]) => fact(name, value)),
        ),
  );
}

function reasonsCard({ actionId, reasons, endedAt, counts, devices }: DeviceAction): VNode {
  const hasLeft = endedAt !== null && counts.done + counts.unchanged < devices;
  return card(
    {
      title: 'Why devices were not changed',
      side: hasLeft
        ? csvButton<ActionDevice>({
            name: 'not-changed',
            columns: CSV,
            page: (cursor, signal) => notDone(actionId, cursor, signal),
          })
        : null,
    },
    reasons.length === 0
      ? p({ class: 'quiet' }, 'None was skipped or refused.')
      : ul(
          { class: 'stack tight', 'aria-label': 'Reasons' },
          reasons.map(({ state, code, devices }) =>
            li(
              { key: `${state} ${code}` },
              a(
                { href: addressOf(['device-actions', actionId, 'devices'], { state, code }) },
                `${count(devices)} ${state}`,
              ),
              ' ',
              codeWords(code),
            ),
          ),
        ),
  );
}

function shown(action: DeviceAction): Child {
  const why = whyStopped(action);
  return [
    why === null ? null : div({ class: `note ${action.state === 'refused' ? 'bad' : 'warn'}` }, p(null, why)),
    card(
      { title: 'Progress' },
      div({ class: 'stack' }, p({ role: 'status' }, actionWords(action)), actionBar(action), actionLegend(action)),
    ),
    div(
      { class: 'wide-first' },
      div({ class: 'stack' }, reasonsCard(action), filterCard(action)),
      card(
        { title: 'Details', bare: true },
        dl(
          { class: 'facts' },
          about(action),
          fact('Begun', moment(action.createdAt)),
          fact('Devices known', action.startedAt === null ? nothing() : moment(action.startedAt)),
          fact('Ended', action.endedAt === null ? nothing() : moment(action.endedAt)),
          fact('Confirmed', action.confirm === null ? nothing() : counted(action.confirm, 'device')),
        ),
      ),
    ),
  ];
}

function OneAction({ actionId }: { actionId: string }) {
  const action = useLoad(actionId, (signal) =>
    read<DeviceAction>(operation('readDeviceAction', { actionId }), { signal }),
  );
  const { value } = action.state.value;
  const isAtWork = value === undefined || value.endedAt === null;
  useEvery(isAtWork ? READ_EVERY : undefined, action.again);
  return [
    head({
      title: value ? (ACTION_NAMES[value.action] ?? value.action) : 'Device action',
      trail: [
        [addressOf(['devices']), 'Devices'],
        [addressOf(['device-actions']), 'Device actions'],
      ],
      state: value ? actionBadge(value) : null,
      about: value && isAtWork ? 'The service goes on with it, also when you leave this page.' : null,
      actions:
        value && isAtWork && permits('stopDeviceAction')
          ? button({ type: 'button', onClick: () => stop(value, action.again) }, 'Stop ...')
          : null,
    }),
    loaded(action, shown, { lines: 10 }),
  ];
}

export const deviceActionPage = (actionId: string): VNode => use(OneAction, { actionId, key: actionId });
