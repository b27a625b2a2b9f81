// Generated from scenario.schema.json by `npm run generate`; edit that instead.

export type Name = string;
export type Bytes = number | string;
/**
 * What is installed from the start.
 *
 * @maxItems 100
 */
export type Software = {
  package: string;
  version: string;
  versionCode: number;
  size?: Bytes;
}[];
/**
 * How the devices are connected: one of the profiles, or what is special about it.
 */
export type Network =
  | ('good' | 'wifi' | 'lte' | 'tunnel' | 'flaky')
  | {
      profile?: 'good' | 'wifi' | 'lte' | 'tunnel' | 'flaky';
      /**
       * Before each answer, besides what the device takes itself.
       */
      delay?: string;
      /**
       * Of the time that a device is not connected, below 95 %.
       */
      away?: number | string;
      /**
       * How long it is away each time.
       */
      window?: string;
    };
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
  | 'installSoftware'
  | 'updateFirmware';
/**
 * Operations that they never answer.
 *
 * @minItems 1
 */
export type Operations = Operation[];
export type Rate = string;
export type DurationRange = string;
/**
 * Only at commands of these.
 *
 * @minItems 1
 */
export type Operations1 = Operation[];
export type Duration = string;
/**
 * Names of groups, or tags that groups have. All devices without it.
 *
 * @minItems 1
 */
export type GroupNames = string[];
export type Share = number | string;
/**
 * @minItems 1
 */
export type Operations2 = Operation[];
export type Expectation =
  | string
  | {
      expect: string;
      /**
       * The phase that it is about. The whole run, without it.
       */
      phase?: string;
    };

/**
 * A story of a fleet and its customer, for `lapel-sim run`.
 */
export interface ScenarioFile {
  /**
   * What the story is called; also the name of the run, unless --run gives one.
   */
  name: string;
  /**
   * One sentence.
   */
  about?: string;
  /**
   * Decides everything that is left to chance. 1 without it.
   */
  seed?: number;
  /**
   * How many devices there are.
   */
  devices: number;
  /**
   * The fastest that devices connect, also when they come back. 200/s without it; 0/s: no bound.
   */
  connectRate?: string;
  /**
   * Whether the customer activates all devices before the first phase. Yes, without it.
   */
  activate?: boolean;
  /**
   * How long a device has to answer its activation before the story goes on without it. 30s without it.
   */
  activationPatience?: string;
  /**
   * A result that comes later after its answer counts as late. 60s without it.
   */
  lateAfter?: string;
  /**
   * How long to wait after the last phase for what is not finished. 30s without it.
   */
  settle?: string;
  /**
   * How often the phases are played, one after another. 1 without it.
   */
  rounds?: number;
  /**
   * Kinds of devices. Without it there is one, `all`.
   *
   * @minItems 1
   * @maxItems 100
   */
  groups?: Group[];
  /**
   * What happens, one after another.
   *
   * @minItems 1
   * @maxItems 100
   */
  phases: Phase[];
  takesPlace?: TakesPlace;
  /**
   * What has to hold at the end; else the exit code is 1.
   *
   * @maxItems 100
   */
  expectations?: Expectation[];
}
/**
 * Devices that are alike. Groups with a `count` have so many; the others share the rest, by `share` or evenly.
 */
export interface Group {
  name: Name;
  /**
   * Of all devices.
   */
  share?: number | string;
  count?: number;
  /**
   * Other names, that several groups may have.
   */
  tags?: Name[];
  /**
   * What the hardware is called. SIM-1 without it.
   */
  model?: string;
  /**
   * Its version. 9.001.0 without it; before that, the Bluetooth operations are never answered.
   */
  firmware?: string;
  /**
   * Its version. 2.3.1 without it; before that, the Bluetooth operations are never answered.
   */
  managementClient?: string;
  language?: string;
  /**
   * For software and what is being downloaded. 8 GiB without it.
   */
  storage?: number | string;
  software?: Software;
  network?: Network;
  behaviour?: Behaviour;
  life?: Life;
  /**
   * @maxItems 100
   */
  faults?: Fault[];
}
/**
 * How the devices do their work.
 */
export interface Behaviour {
  /**
   * From beginning a command to its answer. 0 without it.
   */
  latency?: string;
  /**
   * Of the commands that fail with INTERNAL.
   */
  failures?: number | string;
  /**
   * Of the answers that are sent twice.
   */
  repeats?: number | string;
  /**
   * Whether they say `processing` when they begin a command.
   */
  processing?: boolean;
  silent?: Operations;
  /**
   * Of the files that break off while they are uploaded, at each attempt.
   */
  uploadFailures?: number | string;
  /**
   * Of recordings and files. 64 KiB-512 KiB without it.
   */
  fileSize?: number | string;
}
/**
 * What happens to activated devices by itself. Rates are of one device.
 */
export interface Life {
  /**
   * Between two looks at the battery. 5m without it; 0s: never.
   */
  statusInterval?: string;
  /**
   * A paired Bluetooth device comes or goes.
   */
  peerMoves?: string;
  /**
   * The SOS button is pressed.
   */
  alarms?: string;
  calls?: Rate;
  callLength?: DurationRange;
  /**
   * Of the calls, whose recordings are uploaded afterwards.
   */
  recorded?: number | string;
  fileUploads?: Rate;
}
export interface Fault {
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
    | 'battery-low'
    | 'battery-flat'
    | 'slow-reader'
    | 'wrong-credential'
    | 'two-with-one-identity'
    | 'download-cut'
    | 'download-wrong-bytes'
    | 'upload-url-expired'
    | 'clock-wrong';
  /**
   * At each of its occasions.
   */
  probability: number | string;
  operations?: Operations1;
  delay?: DurationRange;
}
/**
 * A part of the story. It lasts for its `duration`, or until nothing has been going on for `untilIdle`, whichever is over first; without either until Ctrl-C.
 */
export interface Phase {
  name: Name;
  about?: string;
  duration?: Duration;
  untilIdle?: Duration;
  /**
   * These come back at its beginning.
   */
  connect?: {
    groups?: GroupNames;
    rate?: Rate;
  };
  /**
   * These go at its beginning, and stay away until a phase connects them.
   */
  disconnect?: {
    groups?: GroupNames;
    share?: Share;
    /**
     * With DISCONNECT, or with the socket cut. politely without it.
     */
    how?: 'politely' | 'cut';
  };
  /**
   * What is wrong with the customer's webhook receiver while it lasts.
   */
  receiver?: {
    fault: 'fail' | 'slow' | 'hang' | 'go-away';
    /**
     * Of what comes to it. All of it, without this.
     */
    share?: number | string;
  };
  /**
   * Faults of devices that are there while it lasts, beside those of their groups.
   *
   * @maxItems 100
   */
  faults?: {
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
      | 'battery-low'
      | 'battery-flat'
      | 'slow-reader'
      | 'wrong-credential'
      | 'two-with-one-identity'
      | 'download-cut'
      | 'download-wrong-bytes'
      | 'upload-url-expired'
      | 'clock-wrong';
    probability: Share;
    operations?: Operations2;
    delay?: DurationRange;
    groups?: GroupNames;
  }[];
  /**
   * @maxItems 100
   */
  actions?: Action[];
}
/**
 * What the customer does, or people with their devices, while the phase lasts: at a `rate` over all devices, or `each` device so many times, evenly spread.
 */
export interface Action {
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
    | 'install'
    | 'updateFirmware'
    | 'cancel'
    | 'readStatus'
    | 'call'
    | 'uploadFile'
    | 'pressButton'
    | 'movePeer';
  rate?: Rate;
  /**
   * So many times to each device, evenly spread over the phase or over `within`.
   */
  each?: number;
  /**
   * With `each`: over this part of the phase, from its beginning.
   */
  within?: string;
  groups?: GroupNames;
  /**
   * Of these devices: always the same ones.
   */
  share?: number | string;
  release?: Release;
}
/**
 * What `install` or `updateFirmware` is about.
 */
export interface Release {
  package?: string;
  version: string;
  /**
   * What the file says that it is, where that is something else: a bad release.
   */
  says?: {
    package?: string;
    version?: string;
    versionCode?: number;
  };
  /**
   * Of the file. 20 kB without it.
   */
  size?: number | string;
  /**
   * An APK file instead of a made one; relative to the scenario.
   */
  file?: string;
}
/**
 * Without which the story has not taken place: the run ends as NOT RUN then, with exit code 4, whatever else holds. Nothing, without it.
 */
export interface TakesPlace {
  /**
   * Devices that are activated before the first phase, at least.
   */
  activated?: number | string;
  /**
   * Calls that the service refuses (4xx), at most.
   */
  refused?: number | string;
  /**
   * Actions of each phase that are begun while it lasts, at least.
   */
  made?: number | string;
  /**
   * Whether each fault that the story names has to be played at least once.
   */
  faults?: boolean;
}
