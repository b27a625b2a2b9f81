package lapel.client;

import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes the objects of this package of JSON, and JSON of them. What a later release has added is passed over. */
final class Binding {
    private Binding() {}

    /** Reads a value of JSON as a type. A value of another kind becomes null, and leaves a primitive as it is. */
    static Object read(Object value, Type type) {
        if (value == null || type == Object.class) return value;
        if (type instanceof ParameterizedType) return container(value, (ParameterizedType) type);
        if (type == String.class) return value instanceof String ? value : null;
        if (type == boolean.class || type == Boolean.class) return value instanceof Boolean ? value : null;
        if (type == long.class || type == Long.class) return value instanceof Number ? ((Number) value).longValue() : null;
        if (type == double.class || type == Double.class) return value instanceof Number ? ((Number) value).doubleValue() : null;
        return value instanceof Map ? object((Map<?, ?>) value, (Class<?>) type) : null;
    }

    private static Object container(Object value, ParameterizedType type) {
        Type[] parts = type.getActualTypeArguments();
        Type item = parts[parts.length - 1];
        if (type.getRawType() == List.class && value instanceof List) {
            List<Object> list = new ArrayList<>();
            for (Object one : (List<?>) value) list.add(read(one, item));
            return list;
        }
        if (type.getRawType() != Map.class || !(value instanceof Map)) return null;
        Map<Object, Object> map = new LinkedHashMap<>();
        for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) map.put(one.getKey(), read(one.getValue(), item));
        return map;
    }

    private static Object object(Map<?, ?> members, Class<?> type) {
        try {
            Object made = type.getDeclaredConstructor().newInstance();
            for (Method method : type.getMethods()) {
                JsonProperty property = method.getAnnotation(JsonProperty.class);
                if (property == null || method.getParameterCount() != 1) continue;
                Object value = read(members.get(property.value()), method.getGenericParameterTypes()[0]);
                if (value != null) method.invoke(made, value);
            }
            return made;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(type + " is no type of this package", impossible);
        }
    }

    /** Writes a value as JSON: null members of objects are left out, those of maps are kept. */
    static Object write(Object value) {
        if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean) return value;
        if (value instanceof Map) {
            Map<String, Object> map = new LinkedHashMap<>();
            for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) map.put((String) one.getKey(), write(one.getValue()));
            return map;
        }
        if (value instanceof Iterable) {
            List<Object> list = new ArrayList<>();
            for (Object one : (Iterable<?>) value) list.add(write(one));
            return list;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        for (Method method : value.getClass().getMethods()) {
            JsonProperty property = method.getAnnotation(JsonProperty.class);
            if (property == null || method.getParameterCount() != 0) continue;
            try {
                Object member = method.invoke(value);
                if (member != null) members.put(property.value(), write(member));
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(value.getClass() + " is no type of this package", impossible);
            }
        }
        return members;
    }
}
