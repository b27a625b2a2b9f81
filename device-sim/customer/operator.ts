import type { Fleet } from '../fleet/fleet.ts';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { Customer } from './customer.ts';
import { type Difference, differences } from './differences.ts';
import { createEnrolDevice } from './enrol-device.ts';
import type { Enrolment } from './enrolment.ts';
import type { Reply } from './service-client.ts';

/** The calls of the operator of the service for a device, by the names of actions in scenarios. */
export const OPERATIONS = {
  newCredential: 'replaces its credential; the service must close the connection and refuse the former credential',
  removeDevice: 'deletes it, although it is activated; the service must close its connection',
  registerDevice: 'registers another device in the place of a removed one, and the customer activates it',
  replaceDevice: 'removes it because it is lost, and registers another one in its place',
  enrolDevice:
    'removes it, and lets another device come to its credential by the code of an enrolment batch, against requests that the service must refuse',
  moveDevice:
    'moves it to another developer and back, after the customer has deactivated it; meanwhile the service must refuse it to the customer, who activates it again',
} as const satisfies Record<string, string>;

export type OperatorAction = keyof typeof OPERATIONS;
export const isOperators = (doing: string): doing is OperatorAction => Object.hasOwn(OPERATIONS, doing);

/** Milliseconds in which the service must close a connection, and in which a device must have left its application. */
const PATIENCE = 10_000;
const LOOK_MILLISECONDS = 20;
const ACTIVATION_PATIENCE = 10_000;

/** The operator of the service: registers, moves and removes devices during a run. */
export interface Operator {
  /** Carries out an action on the device at an index of the fleet; resolves when it is done, and never rejects. */
  act(action: OperatorAction, at: number, phase: string, number: number): Promise<void>;
}

/**
 * A device that is still in an earlier action of the operator, or that is removed, is left alone. An answer of
 * administration that is not the right one, and a connection that stays open, count in `wrong`.
 */
export function createOperator({
  fleet,
  customer,
  enrolment,
  timers,
  stopped,
  onTrouble,
}: {
  fleet: Fleet;
  customer: Customer;
  enrolment: Enrolment;
  timers: Timers;
  stopped: AbortSignal;
  onTrouble: (text: string) => void;
}): Operator {
  const enrolDevice = createEnrolDevice({ fleet, customer, enrolment, timers });
  const busy = new Set<number>();
  const removed = new Set<number>();
  /** Devices that may be removed: the answer to their removal was lost, or was an error of the service. */
  const unsure = new Set<number>();

  async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    for (const end = timers.now() + PATIENCE; !(await condition()); ) {
      if (timers.now() >= end || stopped.aborted) return false;
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
    return true;
  }

  function wrong(text: string, device: Device, phase: string, found: readonly Difference[]): void {
    if (stopped.aborted) return;
    const { deviceId } = device;
    customer.ledger.wrong({ text, deviceId, phase }, found, timers.now());
  }

  /** Compares the status of an answer of administration. An answer of 5xx is reported, because it says nothing else. */
  function isRight({ status }: Reply, wanted: number, text: string, device: Device, phase: string): boolean {
    if (status === wanted) return true;
    if (status >= 500) onTrouble(`${text} of device ${device.deviceId}: ${status}`);
    else wrong(`the answer to ${text}`, device, phase, differences('answer', { status: wanted }, { status }));
    return false;
  }

  async function mustLeave(device: Device, wasOnline: boolean, text: string, phase: string): Promise<void> {
    if (!wasOnline) return;
    customer.ledger.look('login-closed');
    if (!(await until(() => !device.online)))
      wrong(`the connection after ${text}`, device, phase, differences('connection', 'closed', 'open'));
  }

  async function newCredential(at: number, phase: string): Promise<void> {
    const device = fleet.devices[at]!;
    const wasOnline = device.online;
    const reply = await enrolment.replaceCredential(device.deviceId);
    if (!isRight(reply, 201, 'a new credential', device, phase)) return;
    await mustLeave(device, wasOnline, 'a new credential', phase);
    const hasConnected = await device.connect().then(
      () => true,
      () => false,
    );
    customer.ledger.look('login-former');
    if (hasConnected) wrong('the former credential', device, phase, differences('login', 'refused', 'accepted'));
    await device.disconnect();
    device.useCredential(String(reply.body['credential']));
    if (wasOnline) await device.connect();
  }

  async function remove(at: number, phase: string): Promise<void> {
    const device = fleet.devices[at]!;
    const wasOnline = device.online;
    unsure.add(at);
    const reply = await enrolment.remove(device.deviceId);
    if (reply.status < 500) unsure.delete(at);
    if (!isRight(reply, 204, 'the deletion', device, phase)) return;
    removed.add(at);
    await mustLeave(device, wasOnline, 'the deletion', phase);
    await device.drop();
  }

  async function register(at: number, phase: string): Promise<void> {
    if (!removed.has(at)) return;
    const { account, reply } = await enrolment.register(at);
    if (!isRight(reply, 201, 'the registration', fleet.devices[at]!, phase)) return;
    removed.delete(at);
    const device = await fleet.replace(at, account);
    await device.connect();
    await customer.activate([device.deviceId], phase, ACTIVATION_PATIENCE);
  }

  async function move(at: number, phase: string, number: number): Promise<void> {
    const device = fleet.devices[at]!;
    const { deviceId } = device;
    if (!device.online) return;
    await customer.act({ do: 'deactivate', number }, deviceId, phase);
    // The service moves a device only when its deactivation has ended.
    if (await until(async () => (await enrolment.moveAway(deviceId)).status === 200)) {
      customer.ledger.moved(deviceId, timers.now());
      const found = await customer.unavailability(deviceId);
      customer.ledger.look('device-moved');
      if (found) wrong('the answer about a device of another developer', device, phase, found);
      isRight(await enrolment.moveBack(deviceId), 200, 'the move back', device, phase);
    }
    await customer.activate([deviceId], phase, ACTIVATION_PATIENCE);
  }

  const carryOut: Record<OperatorAction, (at: number, phase: string, number: number) => Promise<void>> = {
    newCredential,
    removeDevice: remove,
    registerDevice: register,
    async replaceDevice(at, phase) {
      await remove(at, phase);
      await register(at, phase);
    },
    async enrolDevice(at, phase) {
      await remove(at, phase);
      if (!removed.has(at)) return;
      const device = await enrolDevice(at, phase);
      if (!device) return;
      removed.delete(at);
      await customer.activate([device.deviceId], phase, ACTIVATION_PATIENCE);
    },
    moveDevice: move,
  };

  return {
    async act(action, at, phase, number) {
      if (busy.has(at) || unsure.has(at) || (removed.has(at) && action !== 'registerDevice')) return;
      busy.add(at);
      const { deviceId } = fleet.devices[at]!;
      try {
        await carryOut[action](at, phase, number);
      } catch (error) {
        if (!stopped.aborted) onTrouble(`${action} of device ${deviceId}: ${(error as Error).message}`);
      } finally {
        busy.delete(at);
      }
    },
  };
}
