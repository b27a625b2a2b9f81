package lapel.client;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An error answer of the service, or an answer that is not from this service at all. */
public final class LapelException extends IOException {
    private static final long serialVersionUID = 1;
    private static final String[] WORDS = {"reason", "message", "error_description", "error"};
    private final String request;
    private final int status;
    private final String code;
    private final String reason;
    private final transient List<Fault> details = new ArrayList<>();
    private final String requestId;
    private final int retryAfter;

    private LapelException(String request, int status, String reason, Map<String, Object> body, HttpHeaders headers) {
        super(request + ": " + status + " " + reason);
        this.request = request;
        this.status = status;
        this.reason = reason;
        code = headers.firstValue("lapel-error-code").orElse(null);
        requestId = headers.firstValue("x-request-id").orElse(null);
        retryAfter = headers.firstValue("retry-after").filter((text) -> text.matches("[0-9]{1,9}")).map(Integer::parseInt).orElse(0);
        List<Object> rows = body == null ? null : Json.list(body.get("details"));
        if (rows == null) return;
        for (Object row : rows) {
            Map<String, Object> fault = Json.object(row);
            if (fault != null) details.add(new Fault(Json.list(fault.get("loc")), Json.text(fault.get("msg")), Json.text(fault.get("type"))));
        }
    }

    static LapelException of(String request, int status, String text, HttpHeaders headers) {
        Map<String, Object> body = Json.readObject(text);
        for (String word : WORDS) {
            String reason = body == null ? null : Json.text(body.get(word));
            if (reason != null) return new LapelException(request, status, reason, body, headers);
        }
        return new LapelException(request, status, "the answer does not come from this service", body, headers);
    }

    /** Method and path, such as {@code GET /v1/applications/patrol}. */
    public String getRequest() {
        return request;
    }

    public int getStatus() {
        return status;
    }

    /** The code of the service's table of errors, by which programs should tell errors apart; null without one. */
    public String getCode() {
        return code;
    }

    public String getReason() {
        return reason;
    }

    /** Every faulty field. */
    public List<Fault> getDetails() {
        return details;
    }

    /** The id under which the service logged the request. */
    public String getRequestId() {
        return requestId;
    }

    /** Seconds after which to retry; 0 when the service does not say it. */
    public int getRetryAfter() {
        return retryAfter;
    }
}
