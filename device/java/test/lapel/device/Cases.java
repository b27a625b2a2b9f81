package lapel.device;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;

/** Plays all cases of a file, and prints a line of JSON for each: its title, and what is wrong, or null. */
final class Cases {
    private Cases() {}

    public static void main(String[] arguments) throws Exception {
        String text = new String(Files.readAllBytes(Paths.get(arguments[0])), StandardCharsets.UTF_8);
        for (Object one : Json.list(Json.read(text))) {
            Map<String, Object> given = Json.object(one);
            byte[] line = Json.write(Json.of("title", given.get("title"), "fault", faultOf(given)))
                    .getBytes(StandardCharsets.UTF_8);
            System.out.write(line, 0, line.length);
            System.out.println();
        }
    }

    private static String faultOf(Map<String, Object> given) {
        Map<String, Object> options = Json.object(given.get("options"));
        List<Object> steps = Json.list(given.get("steps"));
        int number = 0;
        try {
            World world = new World(options == null ? Json.of() : options);
            for (Object step : steps) {
                number++;
                world.play(Json.object(step));
            }
            return null;
        } catch (Exception fault) {
            return "step " + number + ": " + fault;
        }
    }
}
