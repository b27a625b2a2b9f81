import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import lapel.client.Webhook;

public class Verify {
    public static void main(String[] all) {
        for (int i = 0; i < all.length; i += 6) {
            Clock clock = Clock.fixed(Instant.ofEpochSecond(Long.parseLong(all[i + 1])), ZoneOffset.UTC);
            Webhook webhook = new Webhook(Duration.ofMinutes(5), clock, all[i]);
            byte[] body = all[i + 5].getBytes(StandardCharsets.UTF_8);
            System.out.println(webhook.isGenuine(all[i + 2], all[i + 3], all[i + 4], body));
        }
    }
}
