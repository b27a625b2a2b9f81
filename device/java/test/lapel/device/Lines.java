package lapel.device;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Answers lines on its standard input: JSON as this library writes it again, or whether a signature is good. */
final class Lines {
    private Lines() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer = "json".equals(arguments[0]) ? json(line) : String.valueOf(isSigned(line.split(" ", -1)));
            System.out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /** The line is a text of JSON in base64, because such a text may have line ends. */
    private static String json(String line) {
        String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
        try {
            return Json.write(Json.read(text));
        } catch (Json.Fault fault) {
            return "fault: " + fault.getMessage();
        }
    }

    /** The line is a key, a message and a signature, in base64. */
    private static boolean isSigned(String[] parts) {
        Base64.Decoder base64 = Base64.getDecoder();
        return Ed25519.verify(base64.decode(parts[0]), base64.decode(parts[1]), base64.decode(parts[2]));
    }
}
