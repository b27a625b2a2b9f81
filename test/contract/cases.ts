import { OPERATIONS, type Operation, targetOf } from '../api/operations.ts';
import type { ConformanceWorld } from './conformance-world.ts';

/** How one status of a row is produced: its name, and the HTTP request. */
export interface Case {
  title: string;
  run(world: ConformanceWorld): Promise<{ status: number }>;
}

export type Cases = Record<number, Case>;

const BROKEN_DEVICE = '490154203237517';

export function operationOf(row: string): Operation {
  const found = OPERATIONS.find(({ op }) => op === row);
  if (!found) throw new Error(`there is no operation ${row}`);
  return found;
}

/** The valid request of the row, for the devices and software of the world. */
export function target(operation: Operation, { tenant, device }: ConformanceWorld, more: object = {}): string {
  return targetOf(operation, { applicationId: tenant.applicationId, deviceId: device.deviceId, ...more });
}

export const asked = (operation: Operation, api: ConformanceWorld['api'], path: string) =>
  api.request(operation.method, path, operation.json === undefined ? {} : { json: operation.json });

/** The cases of all rows of a kind. */
export function commonCases(row: string): Cases {
  const operation = operationOf(row);
  const { method, path, json, query } = operation;
  const cases: Cases = {
    401: {
      title: 'no access token',
      run: (world) => world.anonymous.request(method, target(operation, world)),
    },
    403: {
      title: 'access token of another application',
      run: (world) => asked(operation, world.foreign, target(operation, world)),
    },
    500: {
      title: 'the database has lost a table',
      run: (world) => asked(operation, world.api, target(operation, world)),
    },
    400: {
      title: 'a message that is not HTTP',
      run: (world) => world.malformed(method, target(operation, world)),
    },
  };
  if (query !== undefined) {
    cases[400] = {
      title: 'type=wifi',
      run: (world) => world.api.request(method, target(operation, world).replace('bluetooth', 'wifi')),
    };
  }
  if (
    method === 'GET' &&
    /(packages|versions|apps|binary-warnings|status|transactions|deliveries|devices|installations|rollouts)$/.test(
      path,
    ) &&
    row !== 'op 7'
  ) {
    cases[400] = {
      title: 'limit=0',
      run: (world) => world.api.get(`${target(operation, world)}?limit=0`),
    };
  }
  if (json !== undefined) {
    cases[400] = {
      title: 'a body that breaks its schema',
      run: (world) => world.api.request(method, target(operation, world), { json: 'text' }),
    };
  }
  if (path.includes('{deviceId}')) {
    cases[404] = {
      title: 'a deviceId that is not an IMEI',
      run: (world) => asked(operation, world.api, target(operation, world, { deviceId: BROKEN_DEVICE })),
    };
  }
  if (path.includes('{package}')) {
    cases[404] = {
      title: 'package not found',
      run: (world) => asked(operation, world.api, target(operation, world)),
    };
  }
  return cases;
}

export const NOT_ACTIVATED = (row: string): Case => ({
  title: 'device is not activated',
  run: async (world) =>
    asked(operationOf(row), world.api, target(operationOf(row), world, { deviceId: await world.newDevice() })),
});
export const NO_DESTINATION = (row: string): Case => ({
  title: 'deviceEvent is not configured',
  async run(world) {
    const { bare } = world;
    const at = { applicationId: bare.applicationId, deviceId: await world.newDevice(bare.developerId) };
    return asked(operationOf(row), bare.api, targetOf(operationOf(row), at));
  },
});
/** The request of the row in `operations.ts`, for the activated device. */
export const PLAIN = (row: string, title: string): Case => ({
  title,
  run: (world) => asked(operationOf(row), world.api, target(operationOf(row), world)),
});
/** The cases of a command, which needs an activated device. */
export const OF_COMMAND = (row: string): Cases => ({
  201: PLAIN(row, 'an activated device'),
  403: NOT_ACTIVATED(row),
  404: NO_DESTINATION(row),
});
export const OTHER_METHOD = (method: string, row: string): Case => ({
  title: `${method} on the path`,
  run: (world) => world.api.request(method, target(operationOf(row), world)),
});
