export const help = `A fleet of simulated wearable cameras for a Lapel service.

  npm run sim -- [options]

Devices are registered through the administration API, connect over MQTT, report their status, execute each command
once and answer it. Installations are real downloads: cut ones are resumed, expired URLs replaced, APK files looked
into. Calls are told as they happen, and recordings are real uploads to where the customer says.
Runs with the same --seed use the same devices and take the same course.

Examples
  npm run sim                                  ten devices for the service of "npm run serve", until Ctrl-C
  npm run sim -- --count 500 --offline-rate 0.2 --latency 50-800 --failure-rate 0.05
                                               a fleet as in the field: a fifth of it is away at any time
  npm run sim -- --count 200 --application APP --secret S --load 50 --duration 60 --json
                                               activates all of them, changes Wi-Fi networks 50 times a second
                                               for a minute, prints one JSON object
  npm run sim -- --count 50 --application APP --secret S --calls 12 --recorded 1 --file-uploads 4
                                               people at work: a call every five minutes, each of them recorded, and
                                               now and then a file; --upload-failure-rate 0.1 spoils some of them
  npm run sim -- --old-firmware 0.1            a tenth of them never answers the Bluetooth operations
  npm run sim -- --preinstall com.example.camera@1.0.0:1 --storage 1000000
                                               cameras with an application and little room
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

What happens to activated devices by itself
  --status-interval SECONDS  how often a device looks whether its battery has changed, and reports it; 0 never (300).
                             The whole status is reported at each connection, a change by a command at once
  --calls RATE               calls an hour and device (0)
  --call-length SECONDS | MIN-MAX
                             (20-120)
  --recorded SHARE           share of the calls whose recording is uploaded afterwards, one file for each side (0.5)
  --file-uploads RATE        files of the customer's application, an hour and device (0)
  --file-size BYTES | MIN-MAX
                             of recordings and files (65536-524288)
  --upload-failure-rate SHARE
                             share of the files that break off in the middle, at each attempt (0)
  --peer-moves RATE          how often a paired Bluetooth device comes or goes, an hour and device (6)
  --alarms RATE              presses of the SOS button, which are custom.sos events, an hour and device (1)

Software on the devices
  --storage BYTES            for software and what is being downloaded, on each device (8589934592, 8 GiB)
  --preinstall LIST          package@versionName:versionCode, separated by commas: installed from the start
  --firmware VERSION         firmware from the start (9.001.0)
  --management-client VERSION
                             of the device (2.3.1); before these two the Bluetooth operations are never answered
  --old-firmware SHARE       share of the devices that have 8.900.0 and 2.2.0 instead, until they are updated (0)
  --lang TAG                 language from the start (en-US)
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
