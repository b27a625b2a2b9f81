import sys
from lapel_client import WebhookError, verify

for at in range(1, len(sys.argv), 6):
    key, now, message_id, timestamp, signatures, body = sys.argv[at : at + 6]
    headers = {"Webhook-Id": message_id, "Webhook-Timestamp": timestamp, "Webhook-Signature": signatures}
    try:
        print(str(verify(headers, body.encode(), key, now=lambda: int(now)) is not None).lower())
    except WebhookError:
        print("false")
