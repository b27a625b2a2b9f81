package lapel.client;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends requests of an application: access tokens, repetition, pages. It needs the library of Java 11 only, and may be used by
 * several threads.
 */
class Transport {
    private static final int ATTEMPTS = 4;
    private static final long FIRST_PAUSE = 200;
    private static final int LONGEST_RETRY_AFTER = 10;
    private static final int TOKEN_MARGIN = 60;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String MEMBER_TOKEN = "lapeldev_";
    private static final String STILL_RUNNING = "IDEMPOTENCY_KEY_RUNNING";
    private static final Pattern NEXT = Pattern.compile("<([^>]*)>; ?rel=\"next\"");

    private final HttpClient http;
    private final String baseUrl;
    private final String applicationId;
    private final String secret;
    private final String scope;
    private String token;
    private long until;

    Transport(HttpClient http, String baseUrl, String applicationId, String secret, String scope) {
        this.http = http;
        this.baseUrl = baseUrl.replaceAll("/+$", "");
        this.applicationId = applicationId;
        this.secret = secret;
        this.scope = scope;
    }

    /** A call of an operation. */
    static final class Call {
        final String method;
        private String path;
        private final boolean repeatable;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private String query = "";
        private String body;

        Call(String method, String path, boolean repeatable, CallOption... options) {
            this.method = method;
            this.path = path;
            this.repeatable = repeatable;
            if (repeatable) headers.put("Idempotency-Key", UUID.randomUUID().toString());
            for (CallOption option : options) headers.put(option.header, option.value);
        }

        Call param(String name, Object value) {
            path = path.replace("{" + name + "}", encoded(String.valueOf(value)));
            return this;
        }

        Call query(Object value) {
            Map<String, Object> members = Json.object(Binding.write(value));
            StringJoiner parts = new StringJoiner("&");
            if (members != null) {
                members.forEach((name, one) -> {
                    List<?> list = one instanceof List ? (List<?>) one : List.of(one);
                    for (Object each : list) parts.add(encoded(name) + "=" + encoded(String.valueOf(each)));
                });
            }
            query = parts.toString();
            return this;
        }

        Call body(Object value) {
            body = Json.write(Binding.write(value));
            headers.put("Content-Type", "application/json");
            return this;
        }
    }

    /** The JSON of an answer, and the query of the next page; null at the last one. */
    static final class Answer {
        final Object body;
        final String next;

        Answer(Object body, String next) {
            this.body = body;
            this.next = next;
        }

        @SuppressWarnings("unchecked") // the reader makes what its type says
        <T> T as(Class<T> type) {
            return (T) Binding.read(body, type);
        }
    }

    /** Makes a call. Throws LapelException for an error answer, another IOException when nobody answers. */
    Answer call(Call call) throws IOException, InterruptedException {
        call.param("applicationId", applicationId);
        String used = authorization();
        try {
            return send(call, used);
        } catch (LapelException refused) {
            if (refused.getStatus() != 401) throw refused;
            forget(used); // a token may end early, so the call is repeated once with a new one
            return send(call, authorization());
        }
    }

    /** Makes the call of the next page. */
    Answer next(Call call, Answer page) throws IOException, InterruptedException {
        call.query = page.next;
        return call(call);
    }

    private synchronized String authorization() throws IOException, InterruptedException {
        if (secret.startsWith(MEMBER_TOKEN)) return "Bearer " + secret;
        if (token != null && System.nanoTime() - until < 0) return token;
        Call call = new Call("POST", "/api/v1/authenticate", false);
        String account = encoded(applicationId) + ":" + encoded(secret);
        call.headers.put("Content-Type", "application/x-www-form-urlencoded");
        call.body = "grant_type=client_credentials&scope=" + encoded(scope);
        String basic = Base64.getEncoder().encodeToString(account.getBytes(StandardCharsets.UTF_8));
        Map<String, Object> answer = Json.object(send(call, "Basic " + basic, true).body);
        long life = Math.max(0, Json.whole(answer.get("expires_in")));
        token = "Bearer " + answer.get("access_token");
        until = System.nanoTime() + Duration.ofSeconds(Math.max(life - TOKEN_MARGIN, life / 2)).toNanos();
        return token;
    }

    private synchronized void forget(String used) {
        if (used.equals(token)) token = null;
    }

    private Answer send(Call call, String authorization) throws IOException, InterruptedException {
        return send(call, authorization, call.repeatable || !call.method.equals("POST"));
    }

    private Answer send(Call call, String authorization, boolean repeatable) throws IOException, InterruptedException {
        long wait = FIRST_PAUSE;
        for (int attempt = 1; ; attempt++, wait *= 2) {
            long pause = wait;
            try {
                return once(call, authorization);
            } catch (LapelException refused) {
                if (attempt == ATTEMPTS || !mayPass(refused, repeatable)) throw refused;
                pause = Math.max(wait, 1000L * refused.getRetryAfter());
            } catch (IOException lost) {
                if (attempt == ATTEMPTS || !repeatable) throw lost;
            }
            Thread.sleep(pause);
        }
    }

    private static boolean mayPass(LapelException refused, boolean repeatable) {
        if (refused.getRetryAfter() > LONGEST_RETRY_AFTER) return false;
        int status = refused.getStatus();
        if (status == 429 || status == 503) return true; // these guarantee that it was not carried out
        return repeatable && (status == 502 || status == 504 || STILL_RUNNING.equals(refused.getCode()));
    }

    private Answer once(Call call, String authorization) throws IOException, InterruptedException {
        URI uri = URI.create(baseUrl + call.path + (call.query.isEmpty() ? "" : "?" + call.query));
        HttpRequest.BodyPublisher body =
                call.body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(call.body);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).method(call.method, body).timeout(TIMEOUT);
        request.header("Accept", "application/json").header("Authorization", authorization);
        call.headers.forEach(request::setHeader);
        HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        String text = response.body();
        int status = response.statusCode();
        try {
            if (status >= 200 && status < 300) {
                Matcher link = NEXT.matcher(response.headers().firstValue("link").orElse(""));
                String next = link.find() ? URI.create(link.group(1)).getRawQuery() : null;
                return new Answer(text.isEmpty() ? null : Json.read(text), next);
            }
        } catch (Json.Fault otherText) {
            // An answer that is no JSON comes from another service at this address.
        }
        throw LapelException.of(call.method + " " + call.path, status, text, response.headers());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
