import { isInstalled, ROOT_FOLDER } from '@lapel/schemas/base/installation';

const serve = isInstalled ? 'lapel serve' : 'npm run serve';

export const help = `A fleet of simulated wearable cameras for a Lapel service, and the customer beside it.

  lapel-sim run SCENARIO [options]   plays a scenario: a file, or the name of an included one
  lapel-sim check FILE ...           reports the mistakes in scenarios, with their lines
  lapel-sim list                     lists the included scenarios
  lapel-sim schema [report]          prints the JSON Schema of scenarios, for editors, or that of report.json
  lapel-sim merge DIR ... [options]  makes one report from the report folders of processes that shared a run
  lapel-sim record FILE --listen HOST:PORT
                                     writes the traffic between your own devices and a service into a record
  lapel-sim replay FILE [options]    plays the devices of a record that "record" or --record has written
  lapel-sim receiver --forward URL   tests your own webhook receiver, with forged, repeated and strange webhooks
  lapel-sim device [options]         tests your own device by the rules of docs/devices.md: plays the service to it
  lapel-sim verify FILE [options]    checks the signature of a report of a device or a receiver, and shows it
  lapel-sim [options]                the short way: plays a scenario that is made from these options
${isInstalled ? '' : '  (npm run sim -- ... is the same)\n'}
A run registers its devices, makes an application with a webhook receiver and a store for uploads, connects, activates,
plays the phases, waits for every result, and checks the expectations. Runs with the same scenario and --seed take the
same decisions, however fast the service is.

Exit codes: 0 all expectations hold; 1 an expectation does not hold, or the run failed; 2 wrong input; 3 the service
cannot be reached, or the device to be tested never connected; 4 NOT RUN: the scenario did not take place as its
takesPlace demands, a case could not be played, or the simulator itself was too slow to measure it; 78 this Node is too old or too new.

Examples
  lapel-sim run smoke                          twenty devices, every operation, half a minute
  lapel-sim run bad-release --report out       out/report.html, out/junit.xml, out/report.json
  lapel-sim run canary                         a bad release, whose rollout stops itself in its first stage
  lapel-sim run shift --count 20 --faster 10   the same with twenty devices, in a tenth of the time
  lapel-sim run my.yaml --run nightly --clean  with its own devices, which are removed at the end
  lapel-sim run smoke --api https://lapel.example --admin https://admin.lapel.example --mqtt mqtts://lapel.example \\
    --webhook-listen 0.0.0.0:9000 --webhook-url https://qa.example/hooks
                                               a service on another machine, and the receiver's address for it
  lapel-sim                                    ten devices for the service of "${serve}", until Ctrl-C
  lapel-sim --count 200 --load 50 --duration 60
                                               changes Wi-Fi networks 50 times a second for a minute
  lapel-sim --count 50 --load 5 --calls 12 --print-scenario
                                               prints these options as a scenario, to begin your own
  lapel-sim receiver --self --forward http://127.0.0.1:9000/hooks --junit junit.xml
                                               your receiver in your CI, with LAPEL_AUTHENTICATION_KEY and no service
  lapel-sim device --listen 0.0.0.0:1883 --public-host 192.0.2.7 --operations activate,deactivate,setLanguage
                                               your device in your network, with three operations
  lapel-sim run shift --record shift.ndjson    writes the traffic of the devices; afterwards:
  lapel-sim replay shift.ndjson --faster 10    the same devices again, ten times as fast
  lapel-sim record traffic.ndjson --listen 0.0.0.0:1884 --mqtt mqtts://lapel.example
                                               your own devices, which connect to this machine

The text in parentheses at the end of an option is its default.

A run
  --run NAME                 its name; each run has its own devices and never touches others (name of the scenario)
  --seed N                   decides device ids, latencies, failures, absences, actions (seed of the scenario)
  -n, --count N              number of devices (number of the scenario; 10 without a scenario)
  --faster N                 plays the scenario N times as fast (1)
  --shard I/N                this process is one of N that share the run: it has every N-th device
  --report FOLDER            writes report.html, junit.xml and report.json
  --decisions FILE           writes all random decisions about devices, in a fixed order, to compare two runs; NDJSON
  --record FILE              writes the messages of all devices, without secrets, up to 256 MiB; NDJSON
  --baseline FILE            compares the latencies with those of an earlier report.json; exit code 1 if one is slower by
                             more than the tolerance and than its noise
  --tolerance PERCENT        how much slower a latency may be than in the baseline (20)
  --figures HOST:PORT        serves the figures at /metrics there while the run goes on, for Prometheus
  --otlp URL                 sends the figures there every 5 s and at the end, for a collector of OpenTelemetry (OTLP, JSON)
  --json                     prints the report as one JSON object, and nothing else, on standard output
  --print-scenario           prints the scenario and ends
  --wait SECONDS             how long to wait for the service to start (5), or for a device to connect (60)
  --clean                    removes the devices, the application and the packages of the run at the end
  --clean-sessions           uses clean MQTT sessions instead of persistent ones
  --client lean | mqtt       the MQTT client of the devices: that of the simulator (lean), or the package mqtt, which has
                             other authors
  --state FOLDER             devices keep answers, settings and software here over restarts of the simulator
  --trusted-key FILE         installs only software that this public key (ed25519, PEM) has signed; several times: any of them
  --download-dir FOLDER      folder for files during their download (a temporary folder, removed at the end)

The service
  --service COMMAND          starts the service with this command, ends it at the end of the run, and plays its faults:
                             restart, kill, freeze; given several times, it starts several nodes
  --service-fault COMMAND    plays the faults of a service that runs already: the command gets SERVICE_FAULT (restart, kill,
                             freeze), SERVICE_FAULT_SECONDS and SERVICE_FAULT_NODE, and ends when the service is back
  --mqtt URL[,URL ...]       address for devices (mqtt://127.0.0.1:1883); also mqtts:, ws:, wss:. Several nodes: devices
                             spread over them, and go to the next one when a connection fails
  --api URL[,URL ...]        REST API (http://127.0.0.1:8080); calls spread over several nodes
  --admin URL                administration API (http://127.0.0.1:8081)
  --admin-token TOKEN        its token (LAPEL_ADMIN_TOKEN, else the file admin-token in the data folder)
  --data-dir FOLDER          the data folder of the service (LAPEL_DATA_DIR, else ./data)
  --ca FILE                  trusts these certificate authorities as well, for MQTT and HTTP; PEM
  --certificates FOLDER      devices with files DEVICEID.pem and DEVICEID.key there log in with this client certificate
  --developer ID             developer of the devices; created if missing (simulated)
  --enrol CODE               its new devices enrol by the code of this batch ("lapel admin enrolment create"), over --api,
                             instead of being registered; or LAPEL_ENROLMENT_CODE
  --csr                      with --enrol: they send a certification request, and log in with the certificate that they
                             get; --certificates keeps it for later runs. Over https: they renew it before it ends
  --save FILE                writes the devices of the run, as {deviceId, credential} lines (NDJSON)
  --devices FILE             reads such a file instead of registering devices (with --count its first N lines)

The customer
  --application ID           uses this application; its webhook settings are changed until the run ends
  --secret S                 its secret; or LAPEL_APPLICATION_SECRET
  --authentication-key KEY   its authenticationKey; or LAPEL_AUTHENTICATION_KEY; without it a new one is issued
  --webhook-listen HOST:PORT where the webhook receiver listens (127.0.0.1, a free port)
  --webhook-url URL          address at which the service reaches the receiver, if it differs

The command receiver (it also takes --seed, --wait, --json, --api, --application, --secret, --webhook-listen,
--webhook-url)
  --forward URL              your receiver, which gets every webhook
  --key KEY                  the authenticationKey; or LAPEL_AUTHENTICATION_KEY; or that of --application
  --once N                   ends after N webhooks of the service (only Ctrl-C ends the test)
  --self                     makes the webhooks itself, without a service (32, or --once N)
  --kept FILE|URL            the webhook-ids that your receiver has kept, in any text: each accepted one must be there once
  --restart COMMAND          with --kept: a command that kills your receiver and starts it again, while webhooks come
  --ordered                  with --kept: the list has the events of a device by their numbers, and missing:DEVICE:NUMBER
  --junit FILE               writes the expectations as JUnit
  --signed-report FILE       writes a report that names each rule with its evidence, signed with --report-key; also for device
  --report-key FILE          your private key (ed25519, PEM)

The command verify (it also takes --json); exit code 0 if the report says "passed", 4 if it is incomplete, else 1
  --public-key FILE          the public key of the tester (ed25519, PEM)
  --page FILE                writes the report as a page

The command record (it also takes --wait, --json, --ca, and --mqtt with one address, mqtt: or mqtts:)
  --listen HOST:PORT         where the devices connect, MQTT without TLS; their connections are passed on to --mqtt

The command device (it also takes --seed, --wait, --json, --junit, --signed-report, --report-key)
  --transport NAME           how the device connects: mqtt, mqtts (over TLS), ws (over WebSocket), wss (with TLS) (mqtt)
  --listen HOST:PORT         where it listens for the device (127.0.0.1, port 1883, 8883, or 8083 for WebSocket)
  --certificates FOLDER      with mqtts and wss: keeps the certificates that the test makes: ca.pem for the device to trust,
                             and DEVICEID.pem with DEVICEID.key, with which it may log in (a temporary folder)
  --tls-cert FILE            the certificate of the service, with its chain, in place of a made one; PEM
  --tls-key FILE             its key
  --mqtt-client-ca FILE      the CA of the client certificates of your devices, in place of the made one; PEM
  --files-listen HOST:PORT   where it serves files to install, over HTTP (the host of --listen, a free port)
  --public-host HOST         the address of this machine for the device (the host of --listen)
  --device ID                the deviceId of the device (one that --seed makes)
  --credential S             its credential; or LAPEL_CREDENTIAL (test-credential-of-ID)
  --operations LIST          the operations that are sent, separated by commas (all)
  --cases LIST               the cases that are played, separated by commas (all)
  --signing-key FILE         the private key (ed25519, PEM) whose public key the device trusts: signs what the test offers,
                             and plays the case signatures
  --wifi FILE                a JSON array of Wi-Fi networks with which the device reaches this machine, as in the REST API;
                             the test gives them to it (a network "depot")
  --apn FILE                 the same for access points (one of the name "Example")
  --revert-after SECONDS     how long the device tries a list of networks (30)
  --answer-time SECONDS      how long to wait for an answer; four times as long for an installation (30)
  --restart COMMAND          a command that restarts the device, without a shutdown if possible
  --by-hand SECONDS          plays also the cases that need your hand (send an event, restart), and waits so long for it
  --thorough                 plays also the cases that take minutes on a slow device
  --hours N                  plays also the case drive for so long: the network of a moving car, with cuts, silence and
                             slowness that --seed decides

The short way, without a scenario. --print-scenario prints these options as a scenario, which can say much more
  --load RATE                Wi-Fi changes a second over all devices (0)
  --duration SECONDS         stops so long after all devices are connected
  --until-idle SECONDS       stops when the fleet was idle for so long
                             (without both: until Ctrl-C)
  --connect-rate N           connections a second, also when devices reconnect; 0 is unbounded (200)
  --latency MS | MIN-MAX     time from the beginning of a command to its answer (0)
  --offline-rate SHARE       share of the time that a device is offline, 0 to 0.95 (0)
  --calls RATE               calls per hour and device; half of them are recorded (0)
  -h, --help                 prints this text
  -V, --version              prints the version

${isInstalled ? ROOT_FOLDER : ''}docs/qa.md has recipes and describes scenarios.
`;
