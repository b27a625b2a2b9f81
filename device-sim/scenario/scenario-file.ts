// Generated from scenario.schema.json by `npm run generate`; edit that instead.

export type Name = string;
export type Rate = string;
export type Duration = string;
export type Share = number | string;
export type Bytes = number | string;
/**
 * The software that is installed from the start.
 *
 * @maxItems 100
 */
export type Software = {
  /** The name of the package. */
  package: string;
  /** The version name. */
  version: string;
  /** The version code of the APK. */
  versionCode: number;
  /** The storage that it takes. Default: 0. */
  size?: Bytes;
}[];
/** The network of the devices: a profile, or the values that differ from a good network. */
export type Network =
  | ('good' | 'wifi' | 'lte' | 'tunnel' | 'flaky')
  | {
      /** The network whose values count where this object has none. Default: good. */
      profile?: 'good' | 'wifi' | 'lte' | 'tunnel' | 'flaky';
      /** Delay before each answer, besides the latency of the device. */
      delay?: DurationRange;
      /** The share of the time that a device is offline, below 95 %. */
      away?: Share;
      /** How long a device is offline each time. */
      window?: DurationRange;
      /** Whether the devices of the group share one access point: they are away and lose their connections together, and `bandwidth` is that of all together, in both directions. Default: false. */
      shared?: boolean;
      /** Bytes a second of each device, in each direction, for messages and files. Default: unlimited. */
      bandwidth?: Bandwidth;
      /** How often each device loses its connection; it connects again at once. */
      losses?: Rate;
    };
export type DurationRange = string;
export type Bandwidth = string;
export type Operation =
  | 'activate'
  | 'deactivate'
  | 'setApn'
  | 'setWifi'
  | 'setLanguage'
  | 'getConnectivityState'
  | 'setConnectivityState'
  | 'listConnectivity'
  | 'pairBluetooth'
  | 'collectDiagnostics'
  | 'installSoftware'
  | 'updateFirmware';
/** @minItems 1 */
export type Operations = Operation[];
export type BytesRange = number | string;
export type ProgramName = string;
/**
 * The types of events that it gets, as the API takes them. Default: all.
 *
 * @maxItems 16
 */
export type EventTypes = string[];
/**
 * Names or tags of groups. Default: all devices.
 *
 * @minItems 1
 */
export type GroupNames = string[];
export type WrittenExpectation =
  | string
  | {
      /** A figure, an operator and a number, such as `lost == 0` or `p99(delivered) < 2 s`. */
      expect: string;
      /** The phase that the expectation is about. Default: the whole run. */
      phase?: string;
    };

/** A scenario of a fleet and its customer, for `lapel-sim run`. */
export interface ScenarioFile {
  /** The name of the scenario; also the name of the run, unless --run gives another one. */
  name: Name;
  /** One sentence about the scenario. */
  about?: string;
  /** The seed of all random decisions. Default: 1. */
  seed?: number;
  /** The number of devices. */
  devices: number;
  /** The largest rate of connections, also when devices reconnect. Default: 200/s; 0/s: no bound. */
  connectRate?: Rate;
  /** Whether the customer activates all devices before the first phase. Default: yes. */
  activate?: boolean;
  /** When no device has answered its activation for this time, the run continues without the others. Default: 30s. */
  activationPatience?: Duration;
  /** A result counts as late if it arrives more than this time after the service has acknowledged the device's answer. Default: 60s. */
  lateAfter?: Duration;
  /** How long the run waits after the last phase for unfinished transactions. Default: 30s. */
  settle?: Duration;
  /** How often the phases are repeated. Default: 1. */
  rounds?: number;
  /**
   * Groups of devices. Default: one group, `all`.
   *
   * @minItems 1
   * @maxItems 100
   */
  groups?: Group[];
  /**
   * Endpoints of the customer: receivers of events, beside the URLs of its settings. Default: none.
   *
   * @maxItems 8
   */
  endpoints?: Endpoint[];
  /**
   * Programs of the customer that pull its events from the stream. Default: none.
   *
   * @maxItems 8
   */
  consumers?: Consumer[];
  /**
   * The phases, one after another.
   *
   * @minItems 1
   * @maxItems 100
   */
  phases: Phase[];
  /** Requirements for the run. If one is not met, the run ends as NOT RUN with exit code 4, even if all expectations hold. Default: none. */
  takesPlace?: TakesPlace;
  /**
   * The expectations. If one does not hold at the end, the exit code is 1.
   *
   * @maxItems 100
   */
  expectations?: WrittenExpectation[];
}
/** A group of similar devices. A group with a `count` has that many devices; the others share the rest, by `share` or evenly. */
export interface Group {
  /** The name of the group, for phases, actions and expectations. */
  name: Name;
  /** The share of all devices. */
  share?: Share;
  /** The number of devices, instead of a share. */
  count?: number;
  /** Further names, which several groups may have. */
  tags?: Name[];
  /** Tags that the customer gives to the devices at the service when they are activated, so that rollouts can select them. They are no names of groups. */
  deviceTags?: {
    [k: string]: string;
  };
  /** The version of MQTT that the devices speak. Default: 3.1.1. */
  mqtt?: '3.1.1' | 5;
  /** The model name of the hardware. Default: SIM-1. */
  model?: string;
  /** The firmware version. Default: 9.001.0; older firmware never answers the Bluetooth operations. */
  firmware?: string;
  /** The version of the management client. Default: 2.3.1; older ones never answer the Bluetooth operations. */
  managementClient?: string;
  /** The language of the devices at the start. Default: en-US. */
  language?: string;
  /** Storage for software and downloads. Default: 8 GiB. */
  storage?: Bytes;
  software?: Software;
  network?: Network;
  clock?: Clock;
  behaviour?: Behaviour;
  life?: Life;
  /**
   * Faults that the devices have now and then.
   *
   * @maxItems 100
   */
  faults?: Fault[];
}
/** Wrong clocks, some of them fast and some slow. They decide `occurredAt` of events. */
export interface Clock {
  /** How wrong a clock is at the start. Default: 0s. */
  wrong?: DurationRange;
  /** By how much a clock becomes more wrong in each hour. Default: 0s. */
  drift?: Duration;
}
/** How the devices carry out commands. */
export interface Behaviour {
  /** Time from the beginning of a command to its answer. Default: 0. */
  latency?: DurationRange;
  /** The share of commands that fail with INTERNAL. */
  failures?: Share;
  /** The share of answers that are sent twice. */
  repeats?: Share;
  /** Whether devices send `processing` when they begin a command. */
  processing?: boolean;
  /** Operations that the devices never answer. */
  silent?: Operations;
  /** The share of files whose upload breaks off, at each attempt. */
  uploadFailures?: Share;
  /** The size of recordings and files. Default: 64 KiB-512 KiB. */
  fileSize?: BytesRange;
}
/** Events that happen to activated devices without commands. Rates are for one device. */
export interface Life {
  /** Time between two reports of the battery. Default: 5m; 0s: never. */
  statusInterval?: Duration;
  /** How often a paired Bluetooth device comes or goes. */
  peerMoves?: Rate;
  /** How often the SOS button is pressed. */
  alarms?: Rate;
  /** How often a device makes a call. */
  calls?: Rate;
  /** How long a call lasts. Default: 20s-2m. */
  callLength?: DurationRange;
  /** The share of calls whose recordings are uploaded afterwards. */
  recorded?: Share;
  /** How often a device uploads a file of the customer’s application. */
  fileUploads?: Rate;
}
export interface Fault {
  /** The fault. */
  fault:
    | 'fails'
    | 'never-answers'
    | 'answers-late'
    | 'answers-twice'
    | 'answers-in-wrong-order'
    | 'answers-before-puback'
    | 'half-open'
    | 'breaks-off-install'
    | 'reboots-and-forgets'
    | 'bad-payload'
    | 'unknown-fields'
    | 'storage-full'
    | 'signature-rejected'
    | 'battery-low'
    | 'battery-flat'
    | 'bricks'
    | 'silent-after'
    | 'reboots-after'
    | 'reconnects-after'
    | 'crashes-after'
    | 'drains-after'
    | 'fills-storage-after'
    | 'loses-its-wifi'
    | 'slow-reader'
    | 'wrong-credential'
    | 'two-with-one-identity'
    | 'download-cut'
    | 'download-wrong-bytes'
    | 'upload-url-expired'
    | 'clock-wrong';
  /** The probability of the fault each time that it can happen. */
  probability: Share;
  /** The fault happens only at commands of these operations. Default: at all commands. */
  operations?: Operations;
  /**
   * The fault happens only at commands that install one of these versions of software or firmware: a bad release. The seed decides for each device whether a version is bad for it; then it is so at each attempt.
   *
   * @minItems 1
   * @maxItems 20
   */
  versions?: string[];
  /** The code of the failure, with the fault `fails`. Default: INTERNAL. */
  code?: string;
  /** How long the fault lasts, or how much later something happens; docs/qa.md says it for each fault. */
  delay?: DurationRange;
}
/** An endpoint of the customer, with a receiver that verifies its events. */
export interface Endpoint {
  /** The name of the endpoint, in the scenario and in its report. */
  name: ProgramName;
  types?: EventTypes;
  /** `device`: the next event of a device is sent only after the one before. Default: none. */
  ordered?: 'none' | 'device';
  /** The most new events in a second. Default: no limit. */
  ratePerSecond?: number;
  /** How its events are signed: `v1` with a secret, `v1a` with a key pair. Default: v1. */
  signatures?: 'v1' | 'v1a';
}
/** A program of the customer that pulls its events, and keeps its place in the service. */
export interface Consumer {
  /** The name of the consumer, in the scenario and in its report. */
  name: ProgramName;
  types?: EventTypes;
  /** The number of events after which it stores its place, and reads it again. Default: 100. */
  page?: number;
}
/** A phase of the scenario. It lasts for its `duration`, or until the fleet was idle for `untilIdle`, whichever comes first; without either until Ctrl-C. */
export interface Phase {
  /** The name of the phase, for expectations and reports. */
  name: Name;
  /** One sentence about the phase. */
  about?: string;
  /** How long the phase lasts. */
  duration?: Duration;
  /** The phase ends when the fleet was idle for this time. */
  untilIdle?: Duration;
  /** These devices connect again at the beginning of the phase. */
  connect?: {
    groups?: GroupNames;
    /** The largest rate of these connections. Default: that of the scenario. */
    rate?: Rate;
  };
  /** These devices go offline at the beginning of the phase, and stay offline until another phase connects them. */
  disconnect?: {
    groups?: GroupNames;
    /** The share of these devices that goes offline. Default: all. */
    share?: Share;
    /** `politely`: with DISCONNECT; `cut`: the socket is cut. Default: politely. */
    how?: 'politely' | 'cut';
  };
  /**
   * Bad networks during the phase, instead of those of the groups. Absences stay those of the groups.
   *
   * @minItems 1
   * @maxItems 20
   */
  network?: RegionalNetwork[];
  /** A fault of the customer's webhook receiver during the phase, or several faults side by side, each for a share of the requests. */
  receiver?: ReceiverFault | ReceiverFault[];
  /**
   * Faults of the customer's endpoints and consumers during the phase, each once.
   *
   * @minItems 1
   * @maxItems 20
   */
  programs?: ProgramFault[];
  /**
   * Faults of the service itself during the phase. The run needs --service or --service-fault then.
   *
   * @minItems 1
   * @maxItems 20
   */
  service?: ServiceFault[];
  /**
   * Faults of devices during the phase, besides those of their groups.
   *
   * @maxItems 100
   */
  faults?: {
    /** The fault. */
    fault:
      | 'fails'
      | 'never-answers'
      | 'answers-late'
      | 'answers-twice'
      | 'answers-in-wrong-order'
      | 'answers-before-puback'
      | 'half-open'
      | 'breaks-off-install'
      | 'reboots-and-forgets'
      | 'bad-payload'
      | 'unknown-fields'
      | 'storage-full'
      | 'signature-rejected'
      | 'battery-low'
      | 'battery-flat'
      | 'bricks'
      | 'silent-after'
      | 'reboots-after'
      | 'reconnects-after'
      | 'crashes-after'
      | 'drains-after'
      | 'fills-storage-after'
      | 'loses-its-wifi'
      | 'slow-reader'
      | 'wrong-credential'
      | 'two-with-one-identity'
      | 'download-cut'
      | 'download-wrong-bytes'
      | 'upload-url-expired'
      | 'clock-wrong';
    /** The probability of the fault each time that it can happen. */
    probability: Share;
    /** The fault happens only at commands of these operations. Default: at all commands. */
    operations?: Operations;
    /**
     * The fault happens only at commands that install one of these versions of software or firmware: a bad release. The seed decides for each device whether a version is bad for it; then it is so at each attempt.
     *
     * @minItems 1
     * @maxItems 20
     */
    versions?: string[];
    /** The code of the failure, with the fault `fails`. Default: INTERNAL. */
    code?: string;
    /** How long the fault lasts, or how much later something happens; docs/qa.md says it for each fault. */
    delay?: DurationRange;
    groups?: GroupNames;
  }[];
  /**
   * What the customer, the wearers and the operator do during the phase.
   *
   * @maxItems 100
   */
  actions?: Action[];
}
export interface RegionalNetwork {
  groups?: GroupNames;
  /** The time that bytes need in each direction. */
  delay?: DurationRange;
  /** Bytes a second of each device, in each direction, for messages and files. Default: unlimited. */
  bandwidth?: Bandwidth;
  /** How often each device loses its connection; it connects again at once. */
  losses?: Rate;
}
export interface ReceiverFault {
  /** `fail`: 503; `slow`: answers after 3 s; `hang`: never answers; `go-away`: closes the connection; `gone`: 410; `too-many`: 429 with Retry-After; `redirect`: 307; `slow-body`: a body of one byte a second. */
  fault: 'fail' | 'slow' | 'hang' | 'go-away' | 'gone' | 'too-many' | 'redirect' | 'slow-body';
  /** The share of requests to the receiver that have the fault. Default: all. */
  share?: Share;
}
export interface ProgramFault {
  /** `forgets`: an endpoint answers before it stores, and crashes; `skips`: a consumer moves its place past events; `goes-back`, `jumps`: it loses its place, and begins again at an old one, or behind the newest event. */
  fault: 'forgets' | 'skips' | 'goes-back' | 'jumps';
  /** The name of the endpoint or consumer. */
  program: string;
  /** Time from the beginning of the phase to the fault. Default: 0s. */
  after?: Duration;
}
export interface ServiceFault {
  /** `restart`: the service is told to end (SIGTERM) and starts again; `kill`: it is killed (SIGKILL) and starts again; `freeze`: it stands still (SIGSTOP). */
  fault: 'restart' | 'kill' | 'freeze';
  /** The node that has the fault, in the order of --service. Default: all nodes. */
  node?: number;
  /** Time from the beginning of the phase to the fault. Default: 0s. */
  after?: Duration;
  /** How long the service is away before it starts again, or stands still. Default: 1s. */
  lasts?: Duration;
}
/** An action of the customer, of the wearers of the devices, or of the operator of the service, during the phase: at a `rate` for all devices together, or `each` device so many times, evenly spread. A `rollout` happens once. */
export interface Action {
  /** The action. */
  do:
    | 'activate'
    | 'deactivate'
    | 'setWifi'
    | 'setApn'
    | 'setLanguage'
    | 'readBluetooth'
    | 'setBluetooth'
    | 'listBluetooth'
    | 'pairBluetooth'
    | 'diagnose'
    | 'install'
    | 'updateFirmware'
    | 'cancel'
    | 'readStatus'
    | 'replaceKey'
    | 'rollout'
    | 'call'
    | 'uploadFile'
    | 'pressButton'
    | 'movePeer'
    | 'newCredential'
    | 'removeDevice'
    | 'registerDevice'
    | 'replaceDevice'
    | 'enrolDevice'
    | 'moveDevice';
  /** How often the action happens, for all devices together. */
  rate?: Rate;
  /** The rate at the end of the phase: from `rate` at its beginning it changes evenly. */
  rateTo?: Rate;
  /** How often each device gets the action, evenly spread over the phase or over `within`. */
  each?: number;
  /** With `each`: only this part of the phase, from its beginning. */
  within?: Duration;
  groups?: GroupNames;
  /** The share of these devices that get the action; in each round the same devices. */
  share?: Share;
  release?: Release;
  /** With `setWifi`, `setApn` or `setLanguage`: a CSV file with the values for each device. The path is relative to the scenario. */
  values?: string;
  /** The time in which the command must be delivered, 60s to 30d; otherwise the transaction ends as failed with EXPIRED. */
  expireIn?: Duration;
  /** The time from the delivery in which the device must answer, 60s to 30d; otherwise the transaction ends as failed with NO_ANSWER. */
  answerWithin?: Duration;
  /** The command takes the place of older unfinished commands of the same operation; of installs: of the same package. Default: false. */
  supersede?: boolean;
  /** With `setWifi`, `setApn`, or a `rollout` of one of them: the time in which the device has to reach the service with its new list, 30s to 1h; otherwise it takes its former list again, and the transaction ends as failed with REVERTED. */
  revertAfter?: Duration;
  /** With `rollout`: the time from the beginning of the phase to the start of the rollout. Default: 0s. */
  after?: Duration;
  /** With `rollout`: a name for people. */
  label?: string;
  /** With `rollout`: the operation that it carries out. Default: installSoftware, with a `release`. */
  operation?: 'setApn' | 'setWifi' | 'setLanguage' | 'setConnectivityState' | 'installSoftware' | 'updateFirmware';
  /** With `rollout`: the body of the operation, if it has no `release`. */
  parameters?: {} | unknown[];
  /** With `rollout`: the selector of the API, such as `{ tags: { site: osaka } }`. Default: all devices of the customer. */
  devices?: {};
  /**
   * With `rollout`: its stages. Default: one with all devices.
   *
   * @maxItems 20
   */
  stages?: RolloutStage[];
  /** With `rollout`: the most commands in a minute, or a rate that doubles after so many final successes. */
  ratePerMinute?:
    | number
    | {
        /** The rate at the beginning. */
        from: number;
        /** The highest rate. */
        to: number;
        /** The rate doubles after each so many devices that have succeeded for good. */
        doubleAfter: number;
      };
  /** With `rollout`: the most devices that may be carrying out a command at a time. */
  maxUnfinished?: number;
  /** With `rollout`: the times at which commands are made: of the day (`from`, `to`, `timeZone`, `days`), or from the start of the rollout on (`closes`, `opens`). */
  window?: RolloutWindow;
  /** With `rollout`: the time from the call until its first stage begins. */
  startIn?: Duration;
  /** With `rollout`: when its first stage begins. */
  startAt?: string;
  /** With `rollout`: the rule that pauses it. */
  abort?: {
    /** The share of failures among the results from which on the rollout is paused. */
    failedPercent: number;
    /** The number of results before which the rule does not count. */
    minimumResults: number;
    /**
     * The codes that count as failures. Default: all except EXPIRED.
     *
     * @minItems 1
     * @maxItems 50
     */
    codes?: string[];
  };
  /** With `rollout`: which failures are tried again. */
  retry?: {
    /**
     * The codes after which a device gets another command.
     *
     * @minItems 1
     * @maxItems 50
     */
    codes: string[];
    /** The most commands of a device. */
    attempts: number;
    /** The time between the failure and the next command. */
    after: Duration;
  };
  /** With `rollout`: when a success is final. */
  confirm?: {
    /** The time after its result within which a device has to be seen again, a minute at least. */
    seenAgainWithin: Duration;
    /** Whether it has to report the version as well. */
    versionKept?: boolean;
  };
  /**
   * With `rollout`: rules about the devices that have the release. Each has `atMost` or `timesControl`.
   *
   * @minItems 1
   * @maxItems 10
   */
  health?: {
    /** The measure, as in the API. */
    measure: 'silent' | 'reconnects' | 'events' | 'failedCommands' | 'batteryDrop' | 'storageFree';
    /**
     * Of `events`: their types.
     *
     * @minItems 1
     * @maxItems 16
     */
    types?: string[];
    /** The limit. */
    atMost?: number;
    /** The limit as a multiple of what waiting devices show. */
    timesControl?: number;
    /** The devices that must be known before the rule counts. */
    minimumDevices: number;
    /** The time that is looked back at. */
    within?: Duration;
  }[];
  /** With `rollout`: devices that match later join the last stage that has begun. */
  continuous?: boolean;
  /** With `rollout`: of the devices of a stage, connected ones come first. */
  preferConnected?: boolean;
  /** With `rollout`: the customer approves each stage that asks for it, at once (`true`) or so long after its beginning. Default: never. */
  approve?: boolean | Duration;
  /** With `rollout`: the customer lets the rollout go on after each pause, at once (`true`) or after this time. Default: never. */
  resume?: boolean | Duration;
}
/** The release that `install` or `updateFirmware` installs. */
export interface Release {
  /** The name of the package. Default: com.example.simulated; for firmware com.lapel.firmware. */
  package?: string;
  /** The version name. The version code is made from it. */
  version: string;
  /** Makes a bad release: the file names another package, version or version code than was registered. */
  says?: {
    /** The package name in the file. */
    package?: string;
    /** The version name in the file. */
    version?: string;
    /** The version code in the file. */
    versionCode?: number;
  };
  /** The size of the file. Default: 20 kB. */
  size?: Bytes;
  /** An existing APK file; the path is relative to the scenario. By default the simulator makes one. */
  file?: string;
}
/** A stage of a rollout: a share of its devices, or a number of them. */
export interface RolloutStage {
  /** The share of all devices of the rollout. */
  percent?: number;
  /** The number of devices. */
  count?: number;
  /** What must be true before the next stage begins. Default: 95 percent of its devices have succeeded. */
  continueWhen?: {
    /** The share of the stage’s devices that must have succeeded. */
    succeededPercent: number;
    /** The results that the stage needs. Default: half of its devices, at most 20. */
    minimumResults?: number;
    /** The time that must pass after that. */
    soakFor?: Duration;
  };
  /** Whether the next stage needs the approval of the customer. */
  approval?: boolean;
}
export interface RolloutWindow {
  /** The window is open until so long after the start of the rollout, rounded up to a full minute. */
  closes?: Duration;
  /** The window opens so long after the start, rounded up to a full minute; after `closes`, it is the second time. */
  opens?: Duration;
  /** The time of day at which it opens. */
  from?: string;
  /** The time of day at which it closes. */
  to?: string;
  /** IANA name, such as Asia/Tokyo. */
  timeZone?: string;
  /**
   * The days on which it opens. Default: all.
   *
   * @minItems 1
   * @maxItems 7
   */
  days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
}
export interface TakesPlace {
  /** The smallest share of devices that are activated before the first phase. */
  activated?: Share;
  /** The largest share of calls that the service refuses (4xx). */
  refused?: Share;
  /** The smallest share of the actions of each phase that are begun during it. */
  made?: Share;
  /** Whether each fault in the scenario must be played at least once. */
  faults?: boolean;
}
