import type { ActionDeviceQuery, DeviceActionQuery, SchemaTypes } from '@lapel/schemas/contracts/types';
import { objectsOf } from '../../core/device-actions/device-action.ts';
import { type ShownAction, sums, type WantedAction } from '../../core/device-actions/device-actions.ts';
import { toUtc } from '../../runtime/clock.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'deviceActions' | 'applications'>;

type Body = SchemaTypes['admin/device-action'];

const NONE = { waiting: 0, done: 0, unchanged: 0, skipped: 0, refused: 0 };

function actionBody(action: ShownAction): Body {
  const { actionId, action: name, filter, parameters, confirmed, state, reason, devices, counts } = action;
  return {
    actionId,
    action: name,
    filter,
    ...parameters,
    confirm: confirmed,
    state,
    reason,
    devices,
    counts: { ...NONE, ...sums(counts) },
    reasons: counts.flatMap(({ state: of, code, devices: number }) =>
      of === 'skipped' || of === 'refused' ? [{ state: of, code, devices: number }] : [],
    ),
    createdAt: toUtc(action.createdAt),
    startedAt: utcOrNull(action.startedAt),
    endedAt: utcOrNull(action.endedAt),
  } as Body;
}

/** Begins a change of all devices that match a filter, or counts them. */
export async function startDeviceAction(
  { deviceActions, applications }: Services,
  { body, headers, baseUrl, changed }: Input<unknown, SchemaTypes['admin/device-action-start']>,
): Promise<Answer> {
  const { action, filter, tags, applicationId, force, confirm, dryRun = false } = body;
  if (action === 'move' && applicationId !== undefined) await applications.findCounted(applicationId);
  const wanted: WantedAction = {
    action,
    filter,
    parameters: {
      ...(action === 'tag' && tags !== undefined && { tags }),
      ...(action === 'move' && applicationId !== undefined && { applicationId }),
      ...(action === 'delete' && force === true && { force }),
    },
    confirmed: confirm,
    key: readIdempotencyKey(headers['idempotency-key']),
  };
  if (dryRun) {
    const { matching, limit } = await deviceActions.count(wanted);
    await changed({ dryRun, filter, matching });
    return { status: 200, body: { matching, limit } };
  }
  const begun = await deviceActions.begin(wanted);
  const { actionId, parameters } = begun;
  const details = { actionId, action, filter, ...parameters, ...(confirm !== undefined && { confirm }) };
  await changed(details, objectsOf(filter, parameters));
  return {
    status: 201,
    headers: { Location: `${baseUrl}/admin/v1/device-actions/${actionId}` },
    body: actionBody(begun),
  };
}

/** Lists device actions, the newest first. */
export async function listDeviceActions(
  { deviceActions }: Services,
  input: Input<unknown, unknown, DeviceActionQuery>,
): Promise<Answer> {
  const { limit } = input.query;
  const actions = await deviceActions.list(input.query);
  const last = actions.at(-1);
  const headers = actions.length < limit || !last ? {} : nextPageAfter(input, { limit }, { after: last.actionId });
  return { status: 200, headers, body: { actions: actions.map(actionBody) } };
}

/** Shows a device action. */
export async function readDeviceAction({ deviceActions }: Services, { params }: At<'actionId'>): Promise<Answer> {
  return { status: 200, body: actionBody(await deviceActions.find(params.actionId)) };
}

/** Stops a device action. */
export async function stopDeviceAction({ deviceActions }: Services, { params }: At<'actionId'>): Promise<Answer> {
  return { status: 200, body: actionBody(await deviceActions.stop(params.actionId)) };
}

/** Lists the devices of a device action. */
export async function listDevicesOfAction(
  { deviceActions }: Services,
  input: Input<{ actionId: string }, unknown, ActionDeviceQuery>,
): Promise<Answer> {
  const { limit } = input.query;
  const found = await deviceActions.devices(input.params.actionId, input.query);
  const last = found.at(-1);
  const headers = found.length < limit || !last ? {} : nextPageAfter(input, input.query, { after: last.deviceId });
  const devices = found.map(({ deviceId, state, code, updatedAt }) => ({
    deviceId,
    state,
    code: code || null,
    updatedAt: toUtc(updatedAt),
  }));
  return { status: 200, headers, body: { devices } };
}
