package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"lapel"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx, device := context.Background(), os.Args[1]
	client := lapel.New(os.Getenv("LAPEL_URL"), os.Getenv("LAPEL_APPLICATION"), os.Getenv("LAPEL_APPLICATION_SECRET"))
	found := map[string]any{}
	pages := [][]string{}
	err := client.ListStatusesPages(ctx, &lapel.DeviceStatusQuery{Limit: 1}, func(page *lapel.DeviceStatusList) error {
		ids := []string{}
		for _, one := range page.Devices {
			ids = append(ids, one.DeviceID)
		}
		pages = append(pages, ids)
		return nil
	})
	if err != nil {
		panic(err)
	}
	found["pages"] = pages
	language := lapel.LanguageSetting{Lang: "ja"}
	first := must(client.SetLanguage(ctx, device, language, nil, lapel.IdempotencyKey("probe")))
	again := must(client.SetLanguage(ctx, device, language, nil, lapel.IdempotencyKey("probe")))
	found["once"] = first.TransactionID == again.TransactionID
	mcc, mnc := "440", "10"
	apn := must(client.SetApn(ctx, device, []lapel.ApnEntry{{Name: "Office", Apn: "internet.example", Mcc: &mcc, Mnc: &mnc}}, nil))
	found["apn"] = apn.TransactionID > first.TransactionID
	var refused *lapel.Error
	if _, err := client.SetLanguage(ctx, os.Args[2], language, nil); errors.As(err, &refused) {
		found["refused"] = []any{refused.Status, refused.Code}
	}
	if _, err := client.SetLanguage(ctx, device, lapel.LanguageSetting{}, nil); errors.As(err, &refused) {
		found["fault"] = []any{refused.Status, refused.Details[0].Loc}
	}
	name := "Probe"
	must(client.RegisterPackage(ctx, lapel.PackageCreate{Package: "com.example.probe", DisplayName: &name}))
	found["removed"] = must(client.UpdatePackage(ctx, "com.example.probe", map[string]any{"displayName": nil})).DisplayName
	if err := client.RemovePackage(ctx, "com.example.probe"); err != nil {
		panic(err)
	}
	must(client.UpdateTags(ctx, device, map[string]any{"site": "osaka & 1/2"}))
	found["tags"] = must(client.ReadTags(ctx, device))
	state := "running"
	found["rollouts"] = len(must(client.ListRollouts(ctx, &lapel.RolloutQuery{Limit: 5, State: &state})).Rollouts)
	fmt.Println(string(must(json.Marshal(found))))
}
