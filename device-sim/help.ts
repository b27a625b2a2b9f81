export const help = `A fleet of simulated wearable cameras for a Lapel service, and the customer beside it.

  lapel-sim run SCENARIO [options]   plays a scenario: a file, or one of those that are there
  lapel-sim check FILE ...           says what is wrong with scenarios, with lines
  lapel-sim list                     the scenarios that are there
  lapel-sim schema                   the JSON Schema of scenarios, for editors
  lapel-sim merge DIR ... [options]  makes one report of those of several processes that shared a run
  lapel-sim [options]                the short way: a scenario of these options alone
  (npm run sim -- ... is the same)

A run registers its devices, makes an application with a webhook receiver and a store for uploads, connects, activates,
plays the phases, waits for every result, and holds what it saw against the expectations. Runs with the same scenario
and --seed take the same decisions, however fast the service is.

Exit codes: 0 all expectations hold; 1 one does not, or the run failed; 2 wrong input; 3 the service cannot be reached;
4 NOT RUN: the scenario did not take place as it says that it must, or the simulator itself was too slow to measure it.

Examples
  lapel-sim run smoke                          twenty devices, every operation, half a minute
  lapel-sim run bad-release --report out       out/report.html, out/junit.xml, out/report.json
  lapel-sim run shift --count 20 --faster 10   the same story with twenty devices, in a tenth of the time
  lapel-sim run my.yaml --run nightly --clean  with devices of its own, which are removed at the end
  lapel-sim run smoke --api https://lapel.example --admin https://admin.lapel.example --mqtt mqtts://lapel.example \\
    --webhook-listen 0.0.0.0:9000 --webhook-url https://qa.example/hooks
                                               a service elsewhere, which reaches the receiver at that address
  lapel-sim                                    ten devices for the service of "npm run serve", until Ctrl-C
  lapel-sim --count 200 --load 50 --duration 60
                                               changes Wi-Fi networks 50 times a second for a minute
  lapel-sim --count 50 --load 5 --calls 12 --recorded 1 --print-scenario
                                               the scenario that these options are, to begin one of one's own

A run
  --run NAME                 its name; its devices are its own, and those of others are never touched (the scenario's)
  --seed N                   decides device ids, latencies, failures, absences, actions (that of the scenario)
  -n, --count N              devices (those of the scenario; 10 without one)
  --faster N                 time goes so many times faster: a scenario in a small form (1)
  --shard I/N                this process is one of N that share the run: it has every N-th device
  --report FOLDER            writes report.html, junit.xml and report.json
  --decisions FILE           writes what was decided about each device, ordered: the same for two runs (NDJSON)
  --json                     standard output carries the report as one JSON object and nothing else
  --print-scenario           prints the scenario and ends
  --wait SECONDS             how long the service has to come up (5)
  --clean                    removes at the end what the run has made: devices, application, packages
  --clean-sessions           clean MQTT sessions instead of persistent ones
  --client lean | mqtt       devices speak MQTT by the client of the simulator (lean), or by the package mqtt: a client that
                             nobody here wrote
  --state FOLDER             devices remember answers, settings and software over restarts of the simulator
  --download-dir FOLDER      where files are while they are downloaded (a temporary folder, removed at the end)

The service
  --mqtt URL                 where devices connect (mqtt://127.0.0.1:1883); also mqtts:, ws:, wss:
  --api URL                  REST API (http://127.0.0.1:8080)
  --admin URL                administration API (http://127.0.0.1:8081)
  --admin-token TOKEN        its token; or LAPEL_ADMIN_TOKEN; or the file admin-token in
  --data-dir FOLDER          the data folder of the service (LAPEL_DATA_DIR, else ./data)
  --developer ID             whose devices they become; created when missing (simulated)
  --save FILE                write {deviceId, credential} lines (NDJSON)
  --devices FILE             use such a file instead of registering (with --count its first N)

The customer
  --application ID           acts for this application, whose webhook settings are the run's while it lasts
  --secret S                 its secret; or LAPEL_APPLICATION_SECRET
  --authentication-key KEY   its key; or LAPEL_AUTHENTICATION_KEY; without it a new one is issued
  --webhook-listen HOST:PORT where the webhook receiver listens (127.0.0.1, a free port)
  --webhook-url URL          how the service reaches it, where that is another address

The short way, without a scenario
  --load RATE                Wi-Fi changes a second over all devices (0)
  --duration SECONDS         stop after that, counted from when all are connected
  --until-idle SECONDS       stop when nothing has been going on for that long
                             (neither: until Ctrl-C)
  --connect-rate N           connections a second, also when reconnecting; 0 is unbounded (200)
  --latency MS | MIN-MAX     from beginning a command to its answer (0)
  --processing               say "processing" when beginning a command
  --failure-rate SHARE       share of the commands that fail with INTERNAL, 0 to 1 (0)
  --duplicate-ack-rate SHARE share of the answers that are sent twice (0)
  --silent-operations LIST   operations never answered, separated by commas
  --offline-rate SHARE       share of the time that a device is away, 0 to 0.95 (0)
  --offline-window MS | MIN-MAX
                             how long it is away each time (5000-30000)
  --status-interval SECONDS  how often a device looks whether its battery has changed, and reports it; 0 never (300)
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
  --storage BYTES            for software and what is being downloaded, on each device (8589934592, 8 GiB)
  --preinstall LIST          package@versionName:versionCode, separated by commas: installed from the start
  --firmware VERSION         firmware from the start (9.001.0)
  --management-client VERSION
                             of the device (2.3.1); before these two the Bluetooth operations are never answered
  --old-firmware SHARE       share of the devices that have 8.900.0 and 2.2.0 instead, until they are updated (0)
  --lang TAG                 language from the start (en-US)
  -h, --help                 this text

docs/qa.md has recipes, and scenarios in full.
`;
