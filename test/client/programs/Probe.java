import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lapel.client.*;

public class Probe {
    public static void main(String[] args) throws Exception {
        String device = args[0];
        var env = System.getenv();
        var lapel = new LapelClient(env.get("LAPEL_URL"), env.get("LAPEL_APPLICATION"), env.get("LAPEL_APPLICATION_SECRET"));
        Map<String, Object> found = new LinkedHashMap<>();
        var one = new DeviceStatusQuery();
        one.setLimit(1);
        List<Object> pages = new ArrayList<>();
        lapel.listStatusesPages(one, page -> {
            List<Object> ids = new ArrayList<>();
            for (var each : page.getDevices()) ids.add(each.getDeviceId());
            pages.add(ids);
        });
        found.put("pages", pages);
        var language = new LanguageSetting();
        language.setLang("ja");
        long first = lapel.setLanguage(device, language, null, CallOption.idempotencyKey("probe")).getTransactionId();
        long again = lapel.setLanguage(device, language, null, CallOption.idempotencyKey("probe")).getTransactionId();
        found.put("once", first == again);
        var apn = new ApnEntry();
        apn.setName("Office");
        apn.setApn("internet.example");
        apn.setMcc("440");
        apn.setMnc("10");
        found.put("apn", lapel.setApn(device, List.of(apn), null).getTransactionId() > first);
        try {
            lapel.setLanguage(args[1], language, null);
        } catch (LapelException error) {
            found.put("refused", List.of(error.getStatus(), error.getCode()));
        }
        try {
            lapel.setLanguage(device, new LanguageSetting(), null);
        } catch (LapelException error) {
            found.put("fault", List.of(error.getStatus(), error.getDetails().get(0).getLoc()));
        }
        var made = new PackageCreate();
        made.setPackageCreatePackage("com.example.probe");
        made.setDisplayName("Probe");
        lapel.registerPackage(made);
        found.put("removed", lapel.updatePackage("com.example.probe", Collections.singletonMap("displayName", null)).getDisplayName());
        lapel.removePackage("com.example.probe");
        lapel.updateTags(device, Map.of("site", "osaka & 1/2"));
        found.put("tags", lapel.readTags(device));
        var running = new RolloutQuery();
        running.setLimit(5);
        running.setState("running");
        found.put("rollouts", lapel.listRollouts(running).getRollouts().size());
        System.out.println(Json.write(found));
    }
}
