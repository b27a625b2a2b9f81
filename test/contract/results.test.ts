import { peersOf } from '@lapel/device-sim/model/bluetooth';
import { newState, plainEquipment } from '@lapel/device-sim/model/device-state';
import { operations } from '@lapel/device-sim/model/operations';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { readAsyncApi, schemaName } from './documents.ts';

const contracts = loadContracts();
const documented = readAsyncApi().channels['commands']!.messages['command']!['x-operations'] ?? {};

const [PEER] = peersOf('490154203237518');
const BLUETOOTH = { type: 'bluetooth' };
const INSTALL = { package: 'com.example.camera', version: '1.0.0' };

/** Parameters with which a simulated device succeeds; an operation without a row has none. */
const PARAMETERS: Record<string, Record<string, unknown>> = {
  activate: { applicationId: 'patrol', clientId: 'camera-07' },
  deactivate: { applicationId: 'patrol' },
  setApn: { apns: [] },
  setWifi: { networks: [] },
  setLanguage: { lang: 'ja' },
  getConnectivityState: BLUETOOTH,
  setConnectivityState: { ...BLUETOOTH, enabled: true },
  listConnectivity: BLUETOOTH,
  pairBluetooth: { macAddress: PEER?.macAddress },
  collectDiagnostics: { kinds: ['logs', 'status', 'network'] },
  installSoftware: INSTALL,
  updateFirmware: INSTALL,
};

t.test('the answer of a device to each operation is the documented result', async (t) => {
  const names = Object.keys(documented).filter((name) => name !== 'cancel');
  t.same(names.toSorted(), [...operations.keys()].sort());
  for (const name of Object.keys(PARAMETERS)) t.ok(names.includes(name), name);
  const state = newState(plainEquipment);
  for (const name of names) {
    const parameters = PARAMETERS[name] ?? {};
    const operation = operations.get(name)!;
    if (!operation.download) t.equal(operation.fault(parameters), undefined, name);
    const apk = { package: INSTALL.package, version: INSTALL.version, versionCode: 1 };
    // The device names the files when it has uploaded them.
    const command = { transactionId: 1, operation: name, parameters, issuedAt: '2026-11-22T09:30:00Z', attempt: 1 };
    const files = operation.download
      ? undefined
      : operation
          .collects?.(state, command)
          .map(({ kind, fileId, name: file, size }) => ({ kind, fileId, name: file, size, sha256: '0'.repeat(64) }));
    const outcome = operation.download
      ? operation.apply(state, parameters, { size: 1, apk })
      : { result: files ? { files } : operation.apply(state, parameters, [PEER!]) };
    t.ok('result' in outcome, name);
    const result = 'result' in outcome ? outcome.result : undefined;
    const { result: reference } = documented[name]!;
    const schema = schemaName(reference!);
    t.equal(schema === 'mqtt/results/none', result === undefined, name);
    if (result) t.same(contracts.faults(schema, result, name), []);
    if (result) t.equal(contracts.faults(schema, {}, name).length, Object.keys(result).length, 'and no less');
  }
});
