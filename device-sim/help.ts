export const help = `A fleet of simulated wearable cameras for a Lapel service.

  npm run sim -- [options]

Devices are registered through the administration API, connect over MQTT, execute each command once and answer it.
Installations are real downloads: cut ones are resumed, expired URLs replaced, APK files looked into.
Runs with the same --seed use the same devices and take the same course.

Examples
  npm run sim                                  ten devices for the service of "npm run serve", until Ctrl-C
  npm run sim -- --count 500 --offline-rate 0.2 --latency 50-800 --failure-rate 0.05
                                               a fleet as in the field: a fifth of it is away at any time
  npm run sim -- --count 200 --application APP --secret S --load 50 --duration 60 --json
                                               activates all of them, changes Wi-Fi networks 50 times a second
                                               for a minute, prints one JSON object
  npm run sim -- --silent-operations listConnectivity,pairBluetooth
                                               an old firmware that never answers these
  npm run sim -- --preinstall com.example.camera@1.0.0:1 --storage 1000000 --report-status
                                               cameras with an application and little room, which they report
  npm run sim -- --save devices.ndjson --until-idle 5
  npm run sim -- --devices devices.ndjson      the same devices later, without the administrator's token

The fleet
  -n, --count N              devices (10)
  --seed N                   decides device ids, latencies, failures and absences (1)
  --mqtt URL                 where they connect (mqtt://127.0.0.1:1883); also mqtts:, ws:, wss:
  --connect-rate N           connections a second, also when reconnecting; 0 is unbounded (200)
  --clean                    clean sessions instead of persistent ones
  --state FOLDER             devices remember answers, settings and software over restarts of the simulator

How they behave
  --latency MS | MIN-MAX     from beginning a command to its answer (0)
  --processing               say "processing" when beginning a command
  --failure-rate SHARE       share of the commands that fail with INTERNAL, 0 to 1 (0)
  --duplicate-ack-rate SHARE share of the answers that are sent twice (0)
  --silent-operations LIST   operations never answered, separated by commas
  --offline-rate SHARE       share of the time that a device is away, 0 to 0.95 (0)
  --offline-window MS | MIN-MAX
                             how long it is away each time (5000-30000)

Software on the devices
  --storage BYTES            for software and what is being downloaded, on each device (8589934592, 8 GiB)
  --preinstall LIST          package@versionName:versionCode, separated by commas: installed from the start
  --firmware VERSION         firmware from the start (9.001.0)
  --report-status            report software, storage and firmware at each connection, not only after a change
  --download-dir FOLDER      where files are while they are downloaded (a temporary folder, removed at the end)

Where the devices come from
  --admin URL                administration API (http://127.0.0.1:8081)
  --admin-token TOKEN        its token; or LAPEL_ADMIN_TOKEN; or the file admin-token in
  --data-dir FOLDER          the data folder of the service (LAPEL_DATA_DIR, else ./data)
  --developer ID             whose devices they become; created when missing (simulated)
  --save FILE                write {deviceId, credential} lines (NDJSON)
  --devices FILE             use such a file instead of registering (with --count its first N)

Work from the REST API
  --application ID           activate all devices for this application, which needs its deviceEvent and its key
  --secret S                 its secret; or LAPEL_APPLICATION_SECRET
  --api URL                  REST API (http://127.0.0.1:8080)
  --load RATE                Wi-Fi changes a second over all devices (0)

The end
  --duration SECONDS         stop after that, counted from when all are connected
  --until-idle SECONDS       stop when nothing has been going on for that long
                             (neither: until Ctrl-C)
  --json                     standard output carries one JSON object and nothing else
  -h, --help                 this text

Exit codes: 0 good; 1 something failed while running (for example nobody could connect); 2 a wrong option.
`;
