package store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store"
)

// A table answers the operations of the contract that is derived from it.
func ExampleOpenSQL() {
	ctx := context.Background()
	db, err := store.OpenSQL(ctx, `
		CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
		INSERT INTO Artist (Name) VALUES ('AC/DC'), ('Accept'), ('Aerosmith')`, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close(ctx)
	res, err := db.Invoke(ctx, &provider.Request{
		RequestID: "r1", OperationID: "fixture.artist.list", Kind: provider.KindList, Action: "list",
		Method: "GET", PathTemplate: "/Artist", Page: &provider.Page{Size: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range res.Items {
		fmt.Println(string(item))
	}
	fmt.Println(*res.Total, "in all; more:", res.NextCursor != nil)
	fmt.Println(string(res.Meta))
	// Output:
	// {"ArtistId":1,"Name":"AC/DC"}
	// {"ArtistId":2,"Name":"Accept"}
	// 3 in all; more: true
	// {"table":"Artist","plan":["SCAN Artist"],"rows_scanned":3,"rows":2}
}

// Operations of any contract find their tables by name.
func ExampleDB_Invoke() {
	ctx := context.Background()
	db, err := store.Open(ctx, "testdata/chinook.sqlite", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close(ctx)
	res, err := db.Invoke(ctx, &provider.Request{
		RequestID: "r1", OperationID: "music.albums.list", Kind: provider.KindList, Action: "list",
		Method: "GET", PathTemplate: "/v1/artists/{artist_id}/albums", Page: &provider.Page{Size: 10},
		Params: provider.Params{Path: provider.Object{{Name: "artist_id", Value: []byte("1")}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range res.Items {
		fmt.Println(string(item))
	}
	// Output:
	// {"AlbumId":1,"Title":"For Those About To Rock We Salute You","ArtistId":1}
	// {"AlbumId":4,"Title":"Let There Be Rock","ArtistId":1}
}
