package lapel.device;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One case of device/cases.json: a core on a simulated disk, with the clocks of the case. */
final class World implements Clock {
    private static final Set<String> KINDS = new HashSet<>(Arrays.asList("networks", "apns"));
    private final Bounds bounds = new Bounds();
    private final SimulatedDisk disk = new SimulatedDisk();
    private final List<Object> effects = new ArrayList<>();
    private final List<Effect> unconfirmed = new ArrayList<>();
    private long now = Instant.parse("2026-11-20T09:30:00.000Z").toEpochMilli();
    private long monotonic;
    private int eventIds;
    private int requestIds;
    private Core core;

    World(Map<String, Object> options) throws IOException {
        for (Map.Entry<String, Object> option : options.entrySet()) {
            int value = ((Number) option.getValue()).intValue();
            switch (option.getKey()) {
                case "leastAnswers": bounds.leastAnswers = value; break;
                case "mostAnswers": bounds.mostAnswers = value; break;
                case "mostOnTheWay": bounds.mostOnTheWay = value; break;
                case "mostEvents": bounds.mostEvents = value; break;
                case "mostEventBytes": bounds.mostEventBytes = value; break;
                default: throw new IllegalArgumentException("an unknown option: " + option.getKey());
            }
        }
        start();
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public long monotonic() {
        return monotonic;
    }

    private void start() throws IOException {
        unconfirmed.clear();
        core = new Core(
                new Ground(disk, bounds, this, () -> "e-" + ++eventIds, () -> "r-" + ++requestIds, this::take), KINDS);
        core.start();
    }

    private void take(Effect effect) {
        Map<String, Object> seen = seen(effect);
        if (seen != null) effects.add(seen);
        if (effect.kind == Effect.Kind.PUBLISH) unconfirmed.add(effect);
    }

    private static Map<String, Object> seen(Effect effect) {
        switch (effect.kind) {
            case SUBSCRIBE:
                return Json.of("subscribe", Arrays.asList("commands", "responses", "errors"));
            case PUBLISH:
                return Json.of("publish", Json.of("kind", effect.name, "message", effect.message));
            case ACCEPT:
                return Json.of("accept", effect.name);
            case BEGIN:
                return Json.of("begin", begun(effect.command));
            case ANSWERED:
                return Json.of("answered", answer(effect));
            case LEAVE:
                return Json.of("leave", Json.of());
            case NETWORKS:
                return Json.of("networks", Json.of("kind", effect.name, "list", effect.list));
            default:
                return null;
        }
    }

    private static Map<String, Object> begun(Command command) {
        Map<String, Object> begun = Json.of(
                "operation", command.operation(),
                "parameters", command.parameters(),
                "transactionId", command.transactionId(),
                "interrupted", command.isInterrupted());
        if (command.progress() != null) begun.put("progress", command.progress());
        return begun;
    }

    private static Map<String, Object> answer(Effect effect) {
        if (effect.error == null) return Json.of("requestId", effect.token, "data", effect.message);
        Map<String, Object> error = Json.of("code", effect.error.code(), "message", effect.error.getMessage());
        return Json.of("requestId", effect.token, "error", error);
    }

    void play(Map<String, Object> step) throws Exception {
        Map.Entry<String, Object> only = step.entrySet().iterator().next();
        Object value = only.getValue();
        Map<String, Object> parts = Json.object(value);
        switch (only.getKey()) {
            case "connect": unconfirmed.clear(); core.connected(Json.text(parts.get("over"))); break;
            case "disconnect": unconfirmed.clear(); core.disconnected(); break;
            case "powerCut": disk.powerCut(); start(); break;
            case "restart": start(); break;
            case "tear": disk.tear(((Number) value).intValue()); start(); break;
            case "flip": disk.flip(((Number) value).intValue()); break;
            case "diskFails": disk.fails = (Boolean) value; break;
            case "advance": advance(((Number) value).longValue()); break;
            case "setClock": now = Instant.parse((String) value).toEpochMilli(); break;
            case "receive": core.received((String) parts.get("kind"), textOf(parts)); break;
            case "confirm": confirm((String) value); break;
            case "finish": finish(parts); break;
            case "progress": core.progress(core.running().id(), value); break;
            case "event": event(parts); break;
            case "refusedEvent": refused(parts); break;
            case "report": core.report(parts); break;
            case "request": core.request((String) parts.get("type"), Json.object(parts.get("data"))); break;
            case "set": core.set((String) parts.get("name"), parts.get("value")); break;
            case "expect": expect("effects", value, new ArrayList<>(effects)); effects.clear(); break;
            case "expectFile": expectFile(parts); break;
            default: throw new IllegalArgumentException("an unknown step: " + only.getKey());
        }
    }

    private static String textOf(Map<String, Object> parts) {
        return parts.containsKey("text") ? (String) parts.get("text") : Json.write(parts.get("payload"));
    }

    private void advance(long milliseconds) {
        now += milliseconds;
        monotonic += milliseconds;
        core.passed();
    }

    private void confirm(String topic) {
        for (Effect one : unconfirmed) {
            if (!one.name.equals(topic)) continue;
            unconfirmed.remove(one);
            core.confirmed(topic, one.token);
            return;
        }
        throw new IllegalStateException("nothing waits for its PUBACK on " + topic);
    }

    private void finish(Map<String, Object> parts) {
        Map<String, Object> failure = Json.object(parts.get("failure"));
        DeviceFailure thrown = failure == null
                ? null
                : new DeviceFailure((String) failure.get("code"), (String) failure.get("message"));
        core.finished(core.running().id(), Json.object(parts.get("result")), thrown);
    }

    private void event(Map<String, Object> parts) throws IOException {
        Importance importance = Importance.of(parts.get("importance"));
        core.event((String) parts.get("type"), Json.object(parts.get("data")), importance);
    }

    private void refused(Map<String, Object> parts) {
        try {
            event(parts);
        } catch (IOException | IllegalArgumentException expected) {
            return;
        }
        throw new IllegalStateException("the event was not refused");
    }

    private static void expect(String what, Object expected, Object found) throws Json.Fault {
        Object value = Json.read(Json.write(found));
        if (value == null ? expected != null : !value.equals(expected)) {
            throw new IllegalStateException(what + ": " + Json.write(value) + ", expected: " + Json.write(expected));
        }
    }

    private void expectFile(Map<String, Object> counts) throws Exception {
        Core other = new Core(new Ground(disk.copy(), bounds, this, () -> "", () -> "", effect -> {}), KINDS);
        other.start();
        Memory memory = other.memory();
        Map<String, Object> found = Json.of(
                "answers", memory.answers.size(),
                "events", memory.events.size(),
                "begun", memory.begun.size(),
                "damaged", other.damaged(),
                "settings", memory.settings);
        for (Map.Entry<String, Object> count : counts.entrySet()) {
            expect(count.getKey(), count.getValue(), found.get(count.getKey()));
        }
    }
}
