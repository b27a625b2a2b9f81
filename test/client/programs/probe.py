import json, os, sys
from lapel_client import LapelClient, LapelError
from lapel_client.types import ApnEntry, LanguageSetting, RolloutQuery

device, other = sys.argv[1], sys.argv[2]
lapel = LapelClient(os.environ["LAPEL_URL"], os.environ["LAPEL_APPLICATION"], os.environ["LAPEL_APPLICATION_SECRET"])
found = {}
found["pages"] = [[one.device_id for one in page.devices] for page in lapel.list_statuses_pages(query={"limit": 1})]
keys = [lapel.set_language(device, LanguageSetting(lang="ja"), idempotency_key="probe").transaction_id for _ in range(2)]
found["once"] = keys[0] == keys[1]
found["apn"] = lapel.set_apn(device, [ApnEntry(name="Office", apn="internet.example", mcc="440", mnc="10")]).transaction_id > keys[0]
try:
    lapel.set_language(other, LanguageSetting(lang="ja"))
except LapelError as error:
    found["refused"] = [error.status, error.code]
try:
    lapel.set_language(device, {"lang": 7})
except LapelError as error:
    found["fault"] = [error.status, error.details[0].loc]
lapel.register_package({"package": "com.example.probe", "displayName": "Probe"})
found["removed"] = lapel.update_package("com.example.probe", {"displayName": None}).display_name
lapel.remove_package("com.example.probe")
lapel.update_tags(device, {"site": "osaka & 1/2"})
found["tags"] = lapel.read_tags(device)
found["rollouts"] = len(lapel.list_rollouts(query=RolloutQuery(limit=5, state="running")).rollouts)
print(json.dumps(found))
