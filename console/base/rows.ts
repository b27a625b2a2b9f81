import type {
  ApplicationRow,
  AuditEntry,
  ConsoleSession,
  DeliveryDetail,
  DeliveryRow,
  DeveloperAnswer,
  DeveloperDetails,
  DeviceConnection,
  DeviceCount,
  DeviceRow,
  DeviceSelector,
  FleetBreakdown,
  FleetDeviceStatus,
  FleetHistory,
  FleetSummary,
  ImportedDevice,
  InstallationList,
  PackageRow,
  Receiver,
  RolloutCounts,
  RolloutCreate,
  RolloutDetails,
  RolloutDeviceList,
  RolloutResults,
  RolloutRow,
  SearchResults,
  SettingList,
  TransactionDetail,
  TransactionRow,
  VersionRow,
} from '../../src/platform/contracts/types.ts';

/** The types of the rows that the service sends, generated from its schemas. Times are date-times in UTC. */
export type {
  ApplicationRow,
  AuditEntry,
  ConsoleSession,
  DeliveryDetail,
  DeliveryRow,
  DeveloperDetails,
  DeviceConnection,
  DeviceCount,
  DeviceRow,
  DeviceSelector,
  FleetBreakdown,
  FleetDeviceStatus,
  FleetSummary,
  ImportedDevice,
  InstallationList,
  PackageRow,
  Receiver,
  RolloutCounts,
  RolloutCreate,
  RolloutDetails,
  RolloutResults,
  RolloutRow,
  TransactionDetail,
  TransactionRow,
  VersionRow,
};

export type Developer = DeveloperAnswer;
export type HistoryPoint = FleetHistory['points'][number];
export type FoundThing = SearchResults['results'][number];
export type SettingRow = SettingList['settings'][number];
export type RolloutDevice = RolloutDeviceList['devices'][number];
export type TransactionStatus = TransactionRow['status'];
